"""The documentation site: `python scripts/docs_site.py` builds it from docs/ into the package.

markdown-it-py reads the pages; this file puts each into one frame, turns links between files into
links between pages, and writes the index that the search reads. The daemon serves the result at
`/docs` under its strict Content-Security-Policy: nothing inline, nothing from elsewhere. A link
that leads out of the documentation into the repository becomes plain text.
"""

import hashlib
import json
import posixpath
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "src" / "astra" / "interfaces" / "web" / "docs"
FRAME = ROOT / "web" / "docs"
BASE = "/docs"
GROUPS = {
    "Start": ("docs/README.md", "docs/tutorial/*.md", "docs/where-do-i.md", "docs/glossary.md"),
    "How to": ("docs/howto/*.md", "docs/[A-Z]*_*.md"),
    "Look up": ("docs/reference/*.md",),
    "Understand": ("docs/explanation/*.md",),
    "The project": ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"),
    "Decisions": ("docs/adr/*.md",),
}
_START, _DECISIONS = "docs/README.md", "Decisions"
_PICTURES = frozenset({".svg", ".webp", ".png"})
_COMMENT = re.compile(r"\s*<!--.*?-->\s*", re.DOTALL)


class RawHtml(ValueError):
    """A page of the documentation holds HTML, which the site does not let through."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """What the search finds: a heading, where it is, and the text below it."""

    page: str
    heading: str
    address: str
    text: str


@dataclass
class Page:
    source: str
    group: str
    tokens: list[Token]
    anchors: set[str] = field(default_factory=set[str])

    @property
    def name(self) -> str:
        """Give the file of the page in the site."""
        if self.source == _START:
            return "index.html"
        folder = "" if self.source.startswith("docs/") else "project/"
        return f"{folder}{self.source.removeprefix('docs/').removesuffix('.md')}.html"

    @property
    def address(self) -> str:
        return f"{BASE}/" if self.name == "index.html" else f"{BASE}/{self.name}"

    @property
    def title(self) -> str:
        return next((text for _, text in _headings(self.tokens)), self.source)


def build(target: Path = SITE) -> None:
    """Build the site, unless it is built from exactly these files."""
    digest = _digest_inputs()
    stamp = target / ".built-from"
    if stamp.exists() and stamp.read_text() == digest:
        return
    shutil.rmtree(target, ignore_errors=True)
    pages = read_pages()
    for page in pages:
        _write(target / page.name, render_page(page, pages))
    _write(target / "adr" / "index.html", _render_decisions(pages))
    sections = [vars(section) for page in pages for section in list_sections(page)]
    _write(target / "search.json", json.dumps(sections, ensure_ascii=False))
    for file in (FRAME / "site.css", FRAME / "search.js"):
        shutil.copy(file, target / file.name)
    _copy_pictures(pages, target)
    stamp.write_text(digest)


def read_pages() -> list[Page]:
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    pages = [
        Page(source=str(path.relative_to(ROOT)), group=group, tokens=_parse(markdown, path))
        for group, patterns in GROUPS.items()
        for pattern in patterns
        for path in sorted(ROOT.glob(pattern))
    ]
    for page in pages:
        _name_headings(page)
    return pages


def render_page(page: Page, pages: Sequence[Page]) -> str:
    for token in page.tokens:
        _tame_token(token)
        for child in _fix_links(page, token.children or [], pages):
            _tame_token(child)
    renderer = MarkdownIt("commonmark").renderer
    content = renderer.render(page.tokens, MarkdownIt("commonmark").options, {})
    return _frame(page.title, _wrap_wide(content), pages, page)


def list_sections(page: Page) -> Iterator[Section]:
    """Cut a page at its headings."""
    heading, address, texts = page.title, page.address, list[str]()
    for position, token in enumerate(page.tokens):
        if token.type == "heading_open":
            if texts:
                yield Section(
                    page=page.title, heading=heading, address=address, text=" ".join(texts)
                )
            heading, texts = _plain(page.tokens[position + 1]), []
            address = f"{page.address}#{token.attrs['id']}"
        elif token.type in {"inline", "fence", "code_block"}:
            texts.append(_plain(token))
    yield Section(page=page.title, heading=heading, address=address, text=" ".join(texts))


def resolve_link(page: Page, link: str, pages: Sequence[Page]) -> str | None:
    """Give where a link of a page leads in the site; None where it leads out of it."""
    parts = urlsplit(link)
    if parts.scheme in {"http", "https"}:
        return link
    if not parts.path:
        return link
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page.source), parts.path))
    anchor = f"#{parts.fragment}" if parts.fragment else ""
    if path == "docs/adr":
        return f"{BASE}/adr/"
    if path == "README.md":
        return f"{BASE}/"
    if posixpath.splitext(path)[1] in _PICTURES and path.startswith("docs/"):
        return f"{BASE}/{path.removeprefix('docs/')}"
    return next((other.address + anchor for other in pages if other.source == path), None)


def slugify(text: str) -> str:
    """Name a heading as the forges do, so that links work in both places."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def _parse(markdown: MarkdownIt, path: Path) -> list[Token]:
    tokens = markdown.parse(path.read_text())
    for token in tokens:
        for piece in (token, *(token.children or ())):
            if piece.type.startswith("html_") and not _COMMENT.fullmatch(piece.content):
                raise RawHtml(f"{path.relative_to(ROOT)}: {piece.content.strip()[:80]}")
    return [token for token in tokens if token.type != "html_block"]


def _name_headings(page: Page) -> None:
    for position, token in enumerate(page.tokens):
        if token.type == "heading_open":
            name = slugify(_plain(page.tokens[position + 1]))
            count = sum(anchor == name or anchor.startswith(f"{name}-") for anchor in page.anchors)
            token.attrs["id"] = f"{name}-{count}" if name in page.anchors else name
            page.anchors.add(str(token.attrs["id"]))


def _headings(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            yield token.tag, _plain(tokens[position + 1])


def _plain(token: Token) -> str:
    """Give the text of a token without its marks, on one line."""
    pieces = [child.content or " " for child in token.children or []] or [token.content]
    return " ".join("".join(pieces).split())


def _tame_token(token: Token) -> None:
    """Take what the policy of the site does not allow: styles in attributes."""
    if "text-align:right" in str(token.attrs.pop("style", "")):
        token.attrs["class"] = "right"


def _fix_links(page: Page, children: list[Token], pages: Sequence[Page]) -> list[Token]:
    """Lead every link to its page; one that leads out of the site leaves its text."""
    dropped = 0
    for child in list(children):
        if child.type == "link_open":
            address = resolve_link(page, str(child.attrs["href"]), pages)
            dropped += address is None
            if address is None:
                children.remove(child)
            else:
                child.attrs["href"] = address
        elif child.type == "link_close" and dropped:
            dropped -= 1
            children.remove(child)
        elif child.type == "image":
            child.attrs["src"] = resolve_link(page, str(child.attrs["src"]), pages) or ""
        elif child.type == "html_inline":
            children.remove(child)
    return children


def _wrap_wide(content: str) -> str:
    """Let what is wider than a phone scroll by itself, by keyboard too; no heading is empty."""
    content = content.replace("<table>", '<div class="wide" tabindex="0"><table>')
    content = content.replace("</table>", "</table></div>").replace("<th></th>", "<td></td>")
    return content.replace("<pre>", '<pre tabindex="0">')


def _render_decisions(pages: Sequence[Page]) -> str:
    rows = [
        f'<li><a href="{page.address}">{escape(page.title)}</a></li>'
        for page in pages
        if page.group == _DECISIONS
    ]
    text = "<p>Each page: what was to be decided, what was decided, and what follows.</p>"
    content = f"<h1>Decisions</h1>{text}<ul>{''.join(rows)}</ul>"
    return _frame("Decisions", content, pages, None)


def _frame(title: str, content: str, pages: Sequence[Page], page: Page | None) -> str:
    template = Template((FRAME / "page.html").read_text())
    contents = "".join(_render_group(group, pages, page) for group in GROUPS)
    return template.substitute(title=escape(title), content=content, contents=contents)


def _render_group(group: str, pages: Sequence[Page], here: Page | None) -> str:
    if group == _DECISIONS:
        is_here = here is None or here.group == _DECISIONS
        links = [_render_entry(f"{BASE}/adr/", "All decisions", is_here=is_here)]
    else:
        links = [
            _render_entry(page.address, page.title, is_here=page is here)
            for page in pages
            if page.group == group
        ]
    return f"<h2>{group}</h2><ul>{''.join(links)}</ul>"


def _render_entry(address: str, title: str, *, is_here: bool) -> str:
    current = ' aria-current="page"' if is_here else ""
    return f'<li><a href="{address}"{current}>{escape(title)}</a></li>'


def _copy_pictures(pages: Sequence[Page], target: Path) -> None:
    for page in pages:
        for token in page.tokens:
            for child in token.children or ():
                address = str(child.attrs.get("src", ""))
                if child.type == "image" and address.startswith(BASE):
                    name = address.removeprefix(f"{BASE}/")
                    (target / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / "docs" / name, target / name)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _digest_inputs() -> str:
    patterns = (*(pattern for group in GROUPS.values() for pattern in group), "web/docs/*")
    files = {Path(__file__).resolve(), *(file for name in patterns for file in ROOT.glob(name))}
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()


if __name__ == "__main__":
    sys.exit(build())
