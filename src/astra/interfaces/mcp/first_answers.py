"""What a relay says at once while the daemon starts: the introduction and the list of tools.

A client gives a server a second or two for those; a daemon that starts cold takes longer. They
follow from two things, neither of which takes long to read:

- `own_tools.json` in the package: Astra's own tools as they are shown, and the frame of each
  answer. `make docs` writes it.
- the state that the last daemon left in `var/run`: flags, and imported tools. `astra init` writes
  the first. A daemon takes it away when it begins to serve and writes it when it has ended, so it
  is never older than the truth; where a daemon was killed there is none, and clients wait.

Each session's own limits (toolsets, flags off in its environment) narrow the list as they do in the
daemon. The gate decides on calls as ever: a list is no permission.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from astra import __version__
from astra.interfaces.mcp import instructions
from astra.interfaces.mcp.session import Opening, Session
from astra.trusted.policy.call import Tier

TABLE = Path(__file__).with_name("own_tools.json")
VERSION_META = "io.modelcontextprotocol/protocolVersion"
_NAME = "mcp-standing.json"
_LARGEST = 4 * 1024 * 1024
_CALLER = "relay"
Members = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ListedTool:
    """A tool as far as a list needs it; `shown` is what the list says, but for its name."""

    name: str
    tier: Tier
    flags: tuple[str, ...] = ()
    operator_only: bool = False
    shown: Members

    def is_on(self, flags: Mapping[str, bool], *, operator: bool) -> bool:
        is_switched_on = all(flags.get(name, False) for name in self.flags)
        return is_switched_on and (operator or not self.operator_only)

    def describe(self, session: Session) -> Members:
        name = self.name if session.dotted else self.name.replace(".", "_")
        hidden = {"outputSchema"} if session.plain else set[str]()
        members = {key: value for key, value in self.shown.items() if key not in hidden}
        return {"name": name, **members}


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How an Astra without a daemon stands: which flags are on, which tools are imported."""

    flags: Mapping[str, bool]
    imported: tuple[ListedTool, ...] = ()

    def to_text(self) -> str:
        rows = [as_row(tool) for tool in self.imported]
        return json.dumps({"version": __version__, "flags": dict(self.flags), "imported": rows})


@dataclass(frozen=True, kw_only=True)
class FirstAnswers:
    """What one session is answered first, as its daemon would."""

    standing: Standing
    opening: Opening

    def find(self, message: Members, version: str) -> Members | None:
        """Find the answer to a request that can be answered now."""
        method = message.get("method")
        if "id" not in message:
            return None
        if method == "ping":
            return {}
        params = message.get("params")
        spoken_version = _read_meta(params, VERSION_META) or version
        frame = self._table["answers"].get(f"{method} {spoken_version}")
        return None if frame is None else self._fill(method, dict(frame))

    def _fill(self, method: Any, answer: Members) -> Members:
        if method == "tools/list":
            return {**answer, "tools": [tool.describe(self._session) for tool in self._tools]}
        text = instructions.write(self._session, self._flags, self._tools)
        return {**answer, "instructions": text}

    @cached_property
    def _table(self) -> Members:
        return json.loads(TABLE.read_text().replace("{version}", __version__))

    @cached_property
    def _session(self) -> Session:
        return self.opening.make_session(_CALLER, dotted=False)

    @cached_property
    def _flags(self) -> dict[str, bool]:
        return {
            name: on and name not in self.opening.off for name, on in self.standing.flags.items()
        }

    @cached_property
    def _tools(self) -> list[ListedTool]:
        session = self._session
        own_tools = [from_row(row) for row in self._table["tools"]]
        return [
            tool
            for tool in (*own_tools, *self.standing.imported)
            if tool.is_on(self._flags, operator=session.operator)
            and session.selection.includes(tool)
        ]


def as_row(tool: ListedTool) -> Members:
    return {
        "name": tool.name,
        "tier": int(tool.tier),
        "flags": list(tool.flags),
        "operator_only": tool.operator_only,
        "shown": tool.shown,
    }


def from_row(row: Members) -> ListedTool:
    return ListedTool(
        name=str(row["name"]),
        tier=Tier(row["tier"]),
        flags=tuple(row["flags"]),
        operator_only=bool(row["operator_only"]),
        shown=row["shown"],
    )


def read_standing(run_folder: Path) -> Standing | None:
    """Read how things stand; nothing where this version did not write it down."""
    try:
        with (run_folder / _NAME).open("rb") as file:
            document: Any = json.loads(file.read(_LARGEST))
        if document["version"] != __version__:
            return None
        flags = {str(name): on is True for name, on in document["flags"].items()}
        return Standing(flags=flags, imported=tuple(map(from_row, document["imported"])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_standing(run_folder: Path, standing: Standing) -> None:
    """Write down how things stand, for whoever comes before the next daemon."""
    fresh = run_folder / f"{_NAME}.new"
    with contextlib.suppress(OSError):  # on a full disk clients wait for the daemon
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o640)
        with os.fdopen(descriptor, "w") as file:
            file.write(standing.to_text())
        fresh.replace(run_folder / _NAME)


def forget_standing(run_folder: Path) -> None:
    """Take it away, before anything can change what it says."""
    (run_folder / _NAME).unlink(missing_ok=True)


def _read_meta(params: Any, name: str) -> Any:
    meta: Any = cast("Members", params).get("_meta") if isinstance(params, dict) else None
    return cast("Members", meta).get(name) if isinstance(meta, dict) else None
