"""What the pages mention exists, and what they link to is there."""

import contextlib
import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.bootstrap.events import EVENTS
from astra.goals import adoption as goal
from astra.goals import performing, promotion
from astra.inbox import items
from astra.interfaces.cli import main as cli
from astra.plans import book as plan
from astra.spend import raising
from astra.trusted.changes import model as change
from astra.trusted.kernel.errors import BadInput
from astra.trusted.settings import environment
from astra.trusted.upstream import sync

ROOT = Path(__file__).parents[3]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text()
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
}
COMMANDS, ERRORS = (PAGES[f"docs/reference/{name}.md"] for name in ("cli", "errors"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
WORDS = re.findall(
    r"\w+",
    "agent operator daemon skill target tool tier footprint decision permit grant manifest approval"
    " desire goal plan checkpoint task change release instance ledger record projection",
)
LEFT_OUT = ("", "trusted", "interfaces", "adapters")
FOLDERS = (ROOT / "examples/agent_server", ROOT / "web")
each_page = pytest.mark.parametrize("page", sorted(PAGES))


@each_page
def test_links_resolve(page: str) -> None:
    broken = [link for link in links(PAGES[page]) if not resolves(page, link)]
    assert not broken


@each_page
def test_commands_exist(page: str) -> None:
    for words in commands(PAGES[page]):
        assert exists(words), f"astra {' '.join(words)}"


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial/first-steps.md"])
def test_commands_to_type_parse(page: str) -> None:
    typed = [
        line
        for language, block in FENCE.findall(PAGES[page])
        if language in {"sh", "console"}
        for line in block.splitlines()
    ]
    found = [words for line in typed for words in spoken(line.removeprefix("$ "))]
    assert found
    for words in found:
        assert callable(cli.parse(words).run)


@each_page
def test_settings_exist(page: str) -> None:
    named = set(re.findall(r"\b(?:ASTRA|AGENT|PERSONA|DESIRE|MAX)_[A-Z][A-Z_]*\b", PAGES[page]))
    assert named <= environment.list_setting_names()


@each_page
def test_events_exist(page: str) -> None:
    """A name in code font that reads like an event (a verb in the past at its end) is one."""
    named = {
        piece
        for piece in INLINE.findall(PAGES[page])
        if re.fullmatch(r"(?!astra_)[a-z]+(_[a-z]+)*_([a-z]+ed|set|aside)", piece)
    }
    known = ERRORS + PAGES["docs/reference/tools.md"]
    assert {name for name in named if f"`{name}`" not in known} <= set(EVENTS)


@each_page
def test_make_targets_exist(page: str) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = {name for piece in code(PAGES[page]) for name in re.findall(r"^make (\w+)", piece)}
    assert named <= set(targets)


@each_page
def test_names_of_code_exist(page: str) -> None:
    """`astra.goals.control` is a module or something in one, or a tool."""
    named = {
        piece.removesuffix("()")
        for piece in INLINE.findall(FENCE.sub("", PAGES[page]))
        if re.fullmatch(r"astra(?:\.\w+){2,}(?:\(\))?", piece)
    }
    tools = PAGES["docs/reference/tools.md"]
    assert {name for name in named if f"`{name}`" not in tools and not is_in_code(name)} == set()


@each_page
def test_files_of_code_exist(page: str) -> None:
    """`goals/control.py` is below a folder that pages leave out, or where it says."""
    named = {
        piece
        for piece in INLINE.findall(FENCE.sub("", PAGES[page]))
        if re.fullmatch(r"[\w.-]+(?:/[\w.-]+)+\.(?:py|mjs|tsx?|sh)", piece)
    }
    folders = (ROOT, *(ROOT / "src/astra" / name for name in LEFT_OUT), *FOLDERS)
    assert {name for name in named if not any((f / name).exists() for f in folders)} == set()


@each_page
def test_no_placeholder_is_left(page: str) -> None:
    assert not re.findall(r"\b(?:MEASURED|TODO|TBD|FIXME)\b", FENCE.sub("", PAGES[page]))


def test_the_page_about_the_inbox_names_every_kind_of_item() -> None:
    kinds = {value for name, value in vars(items).items() if name.isupper()}
    requests = {change.KIND, sync.KIND, plan.KIND, goal.KIND, goal.DESIRE_KIND, raising.KIND}
    kinds |= requests | {promotion.KIND, performing.QUESTION, "tool_call", "schedule"}
    page = PAGES["docs/howto/decide-from-the-inbox.md"]
    assert {kind for kind in kinds if f"`{kind}`" not in page} == set()


@each_page
def test_pages_name_no_machine_and_no_registry(page: str) -> None:
    machine = re.compile(
        r"(?<![\w.~-])/(?:root|home(?!/you\b)|Users|tmp|mnt|work|workspace)/|pypi|pythonhosted|npmjs"
    )
    assert not machine.search(PAGES[page])


def test_each_word_is_defined_once() -> None:
    defined = re.findall(r"^\*\*([a-z ]+)\*\*", PAGES["docs/glossary.md"], re.MULTILINE)
    assert len(defined) == len(set(defined))
    assert set(WORDS) <= set(defined)
    assert defined == sorted(defined)


def test_decisions_have_numbers_of_their_own_and_three_parts() -> None:
    decisions = {page: text for page, text in PAGES.items() if re.match(r"docs/adr/\d", page)}
    numbers = [re.findall(r"/(\d{4})-", page)[0] for page in decisions]
    assert len(numbers) == len(set(numbers))
    for page, text in decisions.items():
        for part in ("## Context", "## Decision", "## Consequences"):
            assert part in text, f"{page} lacks {part}"


def is_in_code(name: str) -> bool:
    """Tell whether a dotted name is a module, or something that a module holds."""
    module, _, last = name.rpartition(".")
    for path, attribute in ((name, ""), (module, last)):
        with contextlib.suppress(ModuleNotFoundError):
            found = importlib.import_module(path)
            return not attribute or hasattr(found, attribute)
    return False


def code(text: str) -> list[str]:
    """Give what a page writes in code font: lines of fenced blocks, and inline pieces."""
    blocks = [line for _, block in FENCE.findall(text) for line in block.splitlines()]
    return blocks + INLINE.findall(FENCE.sub("", text))


def links(text: str) -> list[str]:
    found = re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", text))
    return [link for link in found if not re.match(r"https?:", link)]


def resolves(page: str, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (ROOT / page).parent / path if path else ROOT / page
    return target.exists() and (not anchor or anchor in anchors(target))


def anchors(target: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(text: str) -> Iterator[list[str]]:
    for piece in code(text):
        yield from spoken(piece.removeprefix("$ "))


def spoken(line: str) -> Iterator[list[str]]:
    """Give the words behind `astra` in a line that calls it."""
    match = re.match(r"(?:[A-Z_]+=\S* )*(?:\.venv/bin/)?astra ([a-z-].*)", line)
    if match:
        words = shlex.split(re.split(r" [|>] ?| 2>", match[1])[0], comments=True)
        yield [word for word in words if word != "…"]


def exists(words: list[str]) -> bool:
    """Tell whether a command with these words is known, even where an argument is left out."""
    if words == ["--version"]:
        return True
    if words[0] not in cli.COMMANDS:
        return False
    if f"`astra {' '.join(words)}`" in COMMANDS:
        return True
    known = [word.replace("NAME", next(iter(environment.FLAGS))) for word in words]
    try:
        cli.parse(known)
    except BadInput as error:
        return "required" in error.detail
    return True
