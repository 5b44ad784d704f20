r"""Tables of TOML as frozen dataclasses: the fields say which keys there are and what each takes.

An unknown key, a missing one and a value of another type are errors that name the key, the value
and what is accepted.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True, kw_only=True)
... class Tests:
...     command: tuple[str, ...]
...     seconds: int = 300
>>> build_section(Tests, {"command": ["pytest", "-q"]}, "tests.")
Tests(command=('pytest', '-q'), seconds=300)
"""

import dataclasses
import difflib
import re
import types
from typing import Any, Literal, get_args, get_origin, get_type_hints

from astra.trusted.kernel.errors import BadSetting

Variables = tuple[tuple[str, str], ...]
"""Names and values, written in TOML as a table: env = { TZ = "UTC" }."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


def build_section(cls: type[Any], table: dict[str, Any], where: str = "") -> Any:
    """Build a dataclass from a table of TOML; `where` is its place, with a dot at the end."""
    hints = get_type_hints(cls)
    for key in table:
        if key not in hints:
            _refuse_unknown(f"{where}{key}", key, list(hints))
    values = {
        key: _convert_value(hints[key], value, f"{where}{key}") for key, value in table.items()
    }
    for part in dataclasses.fields(cls):
        has_default = part.default is not part.default_factory  # both are MISSING where none is
        if part.name not in values and not has_default:
            raise BadSetting(
                f"{where}{part.name} is missing",
                next_step=f"add {part.name} = … there, in astra.toml",
                key=f"{where}{part.name}",
            )
    return cls(**values)


def _convert_value(hint: Any, value: Any, key: str) -> Any:
    if (collection := _convert_collection(hint, value, key)) is not None:
        return collection
    if dataclasses.is_dataclass(hint):
        if isinstance(value, dict):
            return build_section(hint, value, f"{key}.")  # pyright: ignore[reportUnknownArgumentType, reportArgumentType]
    elif isinstance(hint, types.UnionType):
        for option in get_args(hint):
            if _is_accepted(option, value):
                return _convert_value(option, value, key)
    elif _is_accepted(hint, value):
        return _freeze_value(hint, value)
    raise BadSetting(
        f"{key} is {value!r}; accepted: {_in_words(hint)}",
        next_step=f"mend {key} in astra.toml",
        key=key,
    )


def _convert_collection(hint: Any, value: Any, key: str) -> Any | None:
    """Convert tables by name or in a list; None for everything else."""
    if get_origin(hint) is dict and isinstance(value, dict):
        return _convert_tables(get_args(hint)[1], value, key)  # pyright: ignore[reportUnknownArgumentType]
    if _is_list_of_tables(hint, value):
        return tuple(_convert_value(get_args(hint)[0], table, key) for table in value)
    return None


def _is_list_of_tables(hint: Any, value: Any) -> bool:
    if get_origin(hint) is not tuple or not isinstance(value, list):
        return False
    return dataclasses.is_dataclass(get_args(hint)[0])


def _convert_tables(hint: Any, tables: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: _convert_value(hint, table, f"{key}.{name}") for name, table in tables.items()}


def _freeze_value(hint: Any, value: Any) -> Any:
    if hint == Variables:
        return tuple(value.items())
    return tuple(value) if get_origin(hint) is tuple else value


def _is_variable(name: str, value: object) -> bool:
    return _VARIABLE.fullmatch(name) is not None and isinstance(value, str) and "\0" not in value


def _is_accepted(hint: Any, value: Any) -> bool:
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if hint == Variables:
        return isinstance(value, dict) and all(_is_variable(*item) for item in value.items())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if get_origin(hint) is tuple:
        kind = get_args(hint)[0]
        return isinstance(value, list) and all(_is_accepted(kind, v) for v in value)  # pyright: ignore[reportUnknownVariableType]
    if get_origin(hint) is dict:
        return False
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return isinstance(value, hint)


def _in_words(hint: Any) -> str:
    if hint == Variables:
        return 'a table of texts, such as { TZ = "UTC" }'
    if isinstance(hint, types.UnionType):
        options = (option for option in get_args(hint) if option is not types.NoneType)
        return " or ".join(map(_in_words, options))
    if get_origin(hint) is tuple:
        items = {str: "texts", int: "whole numbers"}.get(get_args(hint)[0], "tables")
        return f"a list of {items}"
    if get_origin(hint) is Literal:
        return ", ".join(get_args(hint))
    names = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
    return names.get(hint, "a table")


def _refuse_unknown(full: str, key: str, known: list[str]) -> None:
    close = difflib.get_close_matches(key, known, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise BadSetting(
        f"{full} is not a setting of astra.toml{hint}",
        next_step=f"known here: {', '.join(known)}",
        key=full,
    )
