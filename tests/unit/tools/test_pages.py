"""Answers that a model can afford."""

from pydantic import BaseModel

from astra.tools import pages


class Item(BaseModel):
    text: str


class Items(BaseModel):
    items: list[Item]
    next: int | None


def query_numbers(limit: int, *, length: int = 1_000) -> Items:
    return Items(items=[Item(text="x" * length)] * limit, next=limit)


def test_a_page_nobody_measured_has_what_fits_and_leads_on() -> None:
    page = pages.fit_page(query_numbers, None)
    assert len(page.model_dump_json()) <= pages.CHARACTERS + 100
    assert page.next == len(page.items) > 1


def test_a_page_that_somebody_measured_is_as_long_as_they_said() -> None:
    assert len(pages.fit_page(query_numbers, 40).items) == 40


def test_one_item_comes_however_long_it_is() -> None:
    page = pages.fit_page(lambda limit: query_numbers(limit, length=50_000), None)
    assert len(page.items) == 1


def test_a_long_document_is_shortened_and_says_so_unless_it_is_wanted_in_full() -> None:
    document = {"log": "x" * 50_000, "steps": list(range(100)), "id": "chg_1"}
    short = pages.shorten_document(document, full=False)
    assert short["shortened"]
    assert short["id"] == "chg_1"
    assert len(str(short)) < pages.CHARACTERS
    assert "49200 characters left out" in short["log"]
    assert short["steps"][-1] == 99
    assert pages.shorten_document(document, full=True) is document
