"""Reading somebody else's JSON: each value as what it should be, or an error that names the key."""

from collections.abc import Mapping
from typing import Any, NoReturn, cast

from astra.trusted.kernel.errors import BadInput
from astra.trusted.kernel.text import one_line


class Reader:
    """Reads one document; `left_out` names the keys that nobody knows."""

    def __init__(self, error: type[BadInput]) -> None:
        self._error = error
        self.left_out: list[str] = []

    def table(self, value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._refuse_value(where, "an object")
        return cast("dict[str, Any]", value)

    def tables(self, value: Any, where: str, most: int) -> list[dict[str, Any]]:
        items = self._read_items(value, where, most)
        return [self.table(item, f"{where}.{place}") for place, item in enumerate(items)]

    def texts(self, value: Any, where: str, most: int, longest: int) -> tuple[str, ...]:
        items = self._read_items(value, where, most)
        texts_read = (self.text(item, f"{where}.{n}", longest) for n, item in enumerate(items))
        return tuple(dict.fromkeys(texts_read))

    def text(self, value: Any, where: str, longest: int, *, empty: bool = False) -> str:
        if not isinstance(value, str) or not (value.strip() or empty):
            self._refuse_value(where, "a text")
        if len(value) > longest:
            self._refuse_value(where, f"a text of at most {longest} characters")
        return value

    def read_number(self, value: Any, where: str, largest: int) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= largest:
            self._refuse_value(where, f"a whole number from 1 to {largest}")
        return value

    def note_unknown_keys(
        self, table: Mapping[str, Any], known: frozenset[str], where: str
    ) -> None:
        """Note the keys that nobody knows; they are left out."""
        self.left_out += [one_line(f"{where}{key}", 100) for key in table if key not in known]

    def _read_items(self, value: Any, where: str, most: int) -> list[Any]:
        if not isinstance(value, list):
            self._refuse_value(where, "a list")
        items = cast("list[Any]", value)
        if len(items) > most:
            self._refuse_value(where, f"a list of at most {most}")
        return items

    def _refuse_value(self, where: str, accepted: str) -> NoReturn:
        raise self._error(
            f"{where} is not {accepted}", next_step=f"give {accepted} for {where}", field=where
        )
