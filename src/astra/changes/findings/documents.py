r"""Whether JSON, TOML and YAML text can be read at all, with a bound on depth and size.

YAML is only scanned: its events are counted and nothing is built, so that aliases of aliases stay
what they are. Duplicate keys are errors, since readers disagree on which one counts.

>>> find_problem("json", '{"a": 1, "a": 2}').message
"the key 'a' stands twice"
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

LARGEST = 2_000_000
DEEPEST = 200
MOST_EVENTS = 500_000
_TOML_LINE = re.compile(r"\(at line (\d+)")


@dataclass(frozen=True, kw_only=True)
class Problem:
    line: int
    message: str


class _TwiceError(ValueError):
    pass


def find_problem(language: str, text: str) -> Problem | None:
    """Say what keeps the text from being read, or None."""
    if len(text) > LARGEST:
        return Problem(line=0, message=f"larger than {LARGEST:,} characters; not read")
    return _READERS[language](text.removeprefix("\ufeff")) if language in _READERS else None


def _check_json(text: str) -> Problem | None:
    if _measure_depth(text, "[{", "]}") > DEEPEST:
        return Problem(line=0, message=f"nested deeper than {DEEPEST}")
    try:
        json.loads(text, object_pairs_hook=_refuse_duplicate_keys, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        return Problem(line=error.lineno, message=error.msg)
    except (ValueError, RecursionError) as error:
        return Problem(line=0, message=str(error))
    return None


def _check_toml(text: str) -> Problem | None:
    if _measure_depth(text, "[{", "]}") > DEEPEST:
        return Problem(line=0, message=f"nested deeper than {DEEPEST}")
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line_match = _TOML_LINE.search(str(error))
        return Problem(line=int(line_match[1]) if line_match else 0, message=str(error))
    return None


def _check_yaml(text: str) -> Problem | None:
    import yaml  # only where a change has YAML

    depth = count = 0
    try:
        parse = cast("Callable[..., Iterable[Any]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
        events = parse(text, Loader=yaml.CSafeLoader)
        for event in events:
            count += 1
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST or count > MOST_EVENTS:
                return Problem(line=event.start_mark.line + 1, message="too large or too deep")
            if isinstance(event, yaml.NodeEvent) and _builds_objects(event):
                return Problem(line=event.start_mark.line + 1, message="a tag builds objects")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        message = getattr(error, "problem", None) or str(error)
        return Problem(line=mark.line + 1 if mark else 0, message=str(message))
    return None


def _builds_objects(event: Any) -> bool:
    return str(getattr(event, "tag", "") or "").startswith("tag:yaml.org,2002:python/")


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys: set[str] = set()
        twice = next(key for key, _ in pairs if key in keys or keys.add(key))
        raise _TwiceError(f"the key {twice!r} stands twice")
    return table


def _no_constant(name: str) -> Any:
    raise _TwiceError(f"{name} is no JSON")


def _measure_depth(text: str, opening: str, closing: str) -> int:
    """Bound the nesting without reading the text: brackets in strings count too, which is fine."""
    depth = deepest = 0
    for char in text:
        if char in opening:
            depth += 1
            deepest = max(deepest, depth)
        elif char in closing:
            depth = max(0, depth - 1)
    return deepest


_READERS: dict[str, Callable[[str], Problem | None]] = {
    "json": _check_json,
    "toml": _check_toml,
    "yaml": _check_yaml,
}
