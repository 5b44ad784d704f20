"""What a token may be used for at most: which tools, up to which tier, which paths, which routes.

Limits only narrow. They stand in the record that an operator signed, are read again at every use,
and are looked at besides the role, the gate and every signature: nobody may do more because of
them. What cannot be known counts as outside: a token for some paths calls no tool that does not
say which files it touches.

>>> limits = Limits(tools=("astra.plans.*", "read_source_code"), tier=0)
>>> limits.find_tool_objection("astra.plans.get", 0)
''
>>> limits.find_tool_objection("write_file", 1)
'this token is not for the tool write_file'
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy import globs, paths

MOST_NAMES = 100
HIGHEST_TIER = 2
"""That of calls which reach outside (`policy.call.Tier`, which knows these limits)."""
_TOOL = re.compile(r"[a-z][a-z0-9_.-]{0,99}\*?")
_ROUTE = re.compile(r"(GET|POST|DELETE) /[A-Za-z0-9_./{}-]{0,120}")
OWN = "/own/"
"""How the agent's own files are written; every other path is one of the target's."""


_UNCLEAR = frozenset({"", ".", ".."})
"""Names that lead elsewhere; whoever says which files a call touches writes none of them."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    tools: tuple[str, ...] = ()
    """Names, or how they begin with a `*` behind; nothing where it is for every tool."""
    tier: int = HIGHEST_TIER
    paths: tuple[str, ...] = ()
    """Globs of the target's files, and of the agent's own behind `/own/`; nothing for every one."""
    routes: tuple[str, ...] = ()
    """`GET /api/status`; nothing where it is for what its role may use."""

    @property
    def narrow_calls(self) -> bool:
        """Whether there is a call that they keep a caller from."""
        return bool(self.tools or self.paths or self.tier < HIGHEST_TIER)

    def find_tool_objection(self, tool: str, tier: int) -> str:
        """Say why a tool is outside whatever its arguments are, or nothing."""
        if self.tools and not any(_is_named(tool, name) for name in self.tools):
            return f"this token is not for the tool {tool}"
        if tier > self.tier:
            return f"this token is for tier {self.tier} at most, and {tool} is tier {tier}"
        return ""

    def find_path_objection(self, touched: tuple[str, ...] | None) -> str:
        """Say why a call is outside that touches these files, or files that nobody knows."""
        if not self.paths:
            return ""
        covered = ", ".join(self.paths)
        if touched is None:
            return f"this token is for {covered} only, and which files this touches is not known"
        patterns = [globs.parse_glob(text) for text in self.paths]
        for path in touched:
            if not any(_covers(pattern, path) for pattern in patterns):
                place = paths.quote(path) if path else "the whole tree"
                return f"this token is for {covered} only, and this is about {place}"
        return ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "tools": list(self.tools),
            "tier": self.tier,
            "paths": list(self.paths),
            "routes": list(self.routes),
        }


NO_LIMITS = Limits()


def build_limits(
    *,
    tools: list[str] | None = None,
    tier: int | None = None,
    paths: list[str] | None = None,
    routes: list[str] | None = None,
) -> Limits:
    """Put limits together from what somebody typed, in the one spelling that is signed."""
    document = {
        "tools": sorted(set(tools or ())),
        "tier": HIGHEST_TIER if tier is None else tier,
        "paths": sorted({globs.parse_glob(text).text for text in paths or ()}),
        "routes": sorted(set(routes or ())),
    }
    return read_limits(document)


def read_limits(value: Any) -> Limits:
    """Read limits as they were signed; refuse what is unclear or not in its one spelling."""
    if not isinstance(value, dict) or cast("dict[str, Any]", value).keys() != _MEMBERS.keys():
        raise _build_refusal(f"a scope has {', '.join(_MEMBERS)}")
    members = cast("dict[str, Any]", value)
    limits = {name: read_member(members[name]) for name, read_member in _MEMBERS.items()}
    return Limits(**limits)


def _read_tools(value: Any) -> tuple[str, ...]:
    names = _read_texts(value)
    for name in names:
        if not _TOOL.fullmatch(name):
            raise _build_refusal(f"{paths.quote(name)} is no name of tools")
    return names


def _read_routes(value: Any) -> tuple[str, ...]:
    names = _read_texts(value)
    for name in names:
        if not _ROUTE.fullmatch(name):
            raise _build_refusal(f"{paths.quote(name)} is no route")
    return names


def _read_paths(value: Any) -> tuple[str, ...]:
    texts = _read_texts(value)
    for text in texts:
        is_elsewhere = text.startswith("/") and not text.startswith(OWN)
        if globs.parse_glob(text).text != text or is_elsewhere:
            raise _build_refusal(f"{paths.quote(text)} is no glob below the target, or below {OWN}")
    return texts


def _read_tier(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= HIGHEST_TIER:
        raise _build_refusal("a tier is 0, 1 or 2")
    return value


_MEMBERS: Mapping[str, Callable[[Any], Any]] = {
    "tools": _read_tools,
    "tier": _read_tier,
    "paths": _read_paths,
    "routes": _read_routes,
}


def _read_texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _build_refusal("tools, paths and routes are lists")
    texts = cast("list[Any]", value)
    if not all(isinstance(text, str) for text in texts) or texts != sorted(set(texts)):
        raise _build_refusal("tools, paths and routes are texts, each once, in order")
    if len(texts) > MOST_NAMES:
        raise _build_refusal(f"a scope names at most {MOST_NAMES} of a kind")
    return tuple(cast("list[str]", texts))


def _is_named(tool: str, name: str) -> bool:
    return tool.startswith(name[:-1]) if name.endswith("*") else tool == name


def _covers(pattern: globs.Glob, path: str) -> bool:
    """Tell whether a file, or everything below a folder (it ends with `/`), matches."""
    if not _UNCLEAR.isdisjoint(path.strip("/").split("/")):
        return False
    if not path.endswith("/"):
        return pattern.matches(path)
    *folder, last = pattern.segments
    if last != "**" or any(globs.has_wildcard(segment) for segment in folder):
        return False
    lead = "/" if pattern.absolute else ""
    return path.startswith(lead + "".join(f"{segment}/" for segment in folder))


def _build_refusal(detail: str) -> BadInput:
    return BadInput(detail, code="bad_scope", next_step="astra tokens create --help")
