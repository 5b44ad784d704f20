"""Which test reaches which line of the target's code; only of files that were asked for.

From Python 3.12 on the interpreter reports lines itself (`sys.monitoring`), once for each line of a
watched code object; before that a trace function looks at every call.

Sources are compiled here when they are imported, with the text that `sources` gives. That is how a
faulty version comes in, and it keeps compiled files of an earlier run out.
"""

from __future__ import annotations

import gc
import sys
import types
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Lines = set[tuple[str, int]]
_TOOL = 4


class Coverage:
    """`files` are whole paths; `lines` is what was reached since `begin`."""

    def __init__(self, files: frozenset[str]) -> None:
        self.files = files
        self.lines: Lines = set()
        self._monitoring: Any = getattr(sys, "monitoring", None)
        if self._monitoring is not None:
            monitoring = self._monitoring
            monitoring.use_tool_id(_TOOL, "mutation evidence")
            monitoring.register_callback(_TOOL, monitoring.events.LINE, self._record_line)
        else:
            sys.settrace(self._trace_lines)

    def watch(self, code: types.CodeType) -> None:
        """Have the lines of a code object, and of those inside it, reported."""
        if self._monitoring is not None:
            for part in walk_code(code):
                self._monitoring.set_local_events(_TOOL, part, self._monitoring.events.LINE)

    def begin(self) -> None:
        self.lines = set()
        if self._monitoring is not None:
            self._monitoring.restart_events()
        else:
            sys.settrace(self._trace_lines)

    def end(self) -> None:
        if self._monitoring is not None:
            self._monitoring.free_tool_id(_TOOL)
        else:
            sys.settrace(None)

    def _record_line(self, code: types.CodeType, line: int) -> Any:
        self.lines.add((code.co_filename, line))
        return self._monitoring.DISABLE

    def _trace_lines(self, frame: types.FrameType, event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename not in self.files:
            return None
        if event == "line":
            self.lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._trace_lines


def compile_on_import(
    files: frozenset[str], sources: Callable[[str], str | None], watch: Callable[[Any], None]
) -> None:
    """Compile watched files from the text that `sources` gives, or from their own."""
    original = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> types.CodeType | None:
        path = self.get_filename(fullname)
        if path not in files:
            return original(self, fullname)
        text = sources(path)
        data = text if text is not None else Path(path).read_bytes()
        code = compile(data, path, "exec", dont_inherit=True)
        watch(code)
        return code

    SourceFileLoader.get_code = get_code  # pyright: ignore[reportAttributeAccessIssue]


def walk_code(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from walk_code(part)


def loaded_functions(files: frozenset[str]) -> dict[str, list[types.FunctionType]]:
    """Find every function that was defined in one of the files."""
    functions: dict[str, list[types.FunctionType]] = {}
    for thing in gc.get_objects():
        if type(thing) is types.FunctionType and thing.__code__.co_filename in files:
            functions.setdefault(thing.__code__.co_filename, []).append(thing)
    return functions


def exchange_code(functions: list[types.FunctionType], code: types.CodeType) -> bool:
    """Give loaded functions the code of another version of their file; lines are the same.

    Tells whether all of them could take it: one with other free variables cannot.
    """
    versions: dict[tuple[str, int], list[types.CodeType]] = {}
    for part in walk_code(code):
        versions.setdefault(_identify_code(part), []).append(part)
    for function in functions:
        candidates = versions.get(_identify_code(function.__code__), [])
        if len(candidates) != 1:
            if function.__code__.co_name != "<lambda>" or not candidates:
                return False
            continue  # two lambdas on one line cannot be told apart
        try:
            function.__code__ = candidates[0]
        except ValueError:
            return False
    return True


def _identify_code(code: types.CodeType) -> tuple[str, int]:
    return getattr(code, "co_qualname", code.co_name), code.co_firstlineno
