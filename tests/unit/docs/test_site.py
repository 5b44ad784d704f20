"""The documentation site: every page is in it, every link leads somewhere, nothing is inline."""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "scripts"))

import docs_site  # noqa: E402 - a script beside the package

LOADING = {"script": "src", "link": "href", "img": "src"}


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def list_values(self, tag: str, name: str) -> list[str]:
        return [str(attrs[name]) for found, attrs in self.elements if found == tag if name in attrs]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "docs"
    docs_site.build(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Elements]:
    return {
        f"/docs/{path.relative_to(site)}": Elements(path.read_text())
        for path in site.rglob("*.html")
    }


def test_every_page_of_the_documentation_is_in_the_site() -> None:
    sources = {page.source for page in docs_site.read_pages()}
    written = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")}
    assert written <= sources


def test_every_link_leads_to_a_page_and_every_anchor_to_a_heading(
    pages: dict[str, Elements],
) -> None:
    for name, page in pages.items():
        for link in page.list_values("a", "href"):
            if link == "/" or link.startswith("https://"):
                continue
            path, _, anchor = link.partition("#")
            path = path or name
            path += "index.html" if path.endswith("/") else ""
            assert path in pages, f"{name}: {link}"
            ids = {str(attrs.get("id")) for _, attrs in pages[path].elements}
            assert not anchor or anchor in ids, f"{name}: {link}"


def test_nothing_is_inline_and_nothing_comes_from_elsewhere(
    site: Path, pages: dict[str, Elements]
) -> None:
    for name, page in pages.items():
        for tag, attrs in page.elements:
            assert not [key for key in attrs if key == "style" or key.startswith("on")], name
            assert tag not in {"style", "iframe", "object", "form", "base"}, name
            if tag in LOADING:
                address = str(attrs[LOADING[tag]])
                assert address.startswith("/docs/") or address == "/icon.svg", name
                assert (
                    not address.startswith("/docs/")
                    or (site / address.removeprefix("/docs/")).is_file()
                ), f"{name}: {address}"


def test_the_search_covers_every_page_and_leads_to_its_headings(
    site: Path, pages: dict[str, Elements]
) -> None:
    sections: list[dict[str, Any]] = json.loads((site / "search.json").read_text())
    found = {section["address"].partition("#")[0] for section in sections}
    found = {f"{path}index.html" if path.endswith("/") else path for path in found}
    assert found == set(pages) - {"/docs/adr/index.html"}
    texts = " ".join(section["text"] for section in sections)
    assert "ASTRA_CODE_WRITE_ENABLED" in texts
    assert not re.search(r"\]\(|<div|</", texts.replace("</dev/null", ""))


def test_it_is_built_again_only_when_something_changed(site: Path) -> None:
    index = site / "index.html"
    index.write_text("marked")
    docs_site.build(site)
    assert index.read_text() == "marked"
    (site / ".built-from").write_text("something else")
    docs_site.build(site)
    assert index.read_text() != "marked"


def test_html_in_a_page_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_site, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text("# A\n\n<script>alert(1)</script>\n")
    with pytest.raises(docs_site.RawHtml, match="script"):
        docs_site.read_pages()
