"""One check for the pages of every list."""

import pytest

from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.paging import END, LARGEST_PAGE, check_page


def test_a_page_begins_at_its_cursor_or_at_the_start_of_its_list() -> None:
    assert check_page(1) == END
    assert check_page(LARGEST_PAGE, "17") == 17
    assert check_page(50, 17) == 17
    assert check_page(50, None, start=0) == 0


@pytest.mark.parametrize("limit", [0, -1, LARGEST_PAGE + 1, 1 << 70])
def test_a_page_has_at_least_one_item_and_not_too_many(limit: int) -> None:
    with pytest.raises(BadInput, match="limit is 1 to 200"):
        check_page(limit)


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1.5", "١٢", "9" * 19, "1 "])
def test_a_cursor_that_no_list_gave_is_refused_and_breaks_nothing(cursor: str) -> None:
    with pytest.raises(BadInput, match="cursor"):
        check_page(50, cursor)
