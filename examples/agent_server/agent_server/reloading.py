"""New code for functions that are already there: all of it, or none.

Astra asks for it with SIGHUP when a new release differs in nothing but the bodies of functions. The
request lies in the state folder: which release, where it is, and which modules changed. Every new
body is compiled and matched with its function first; only then they are put in, so a release that
does not fit leaves the old code as it was. Objects, connections and variables stay.
"""

import json
import sys
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

REQUEST = ".astra-reload"


class DoesNotFit(Exception):
    """The new code is not for the functions that are here."""


def take_over(state: Path, here: Path) -> tuple[str, Path]:
    """Carry a request out; give the release that runs from now on, and its folder."""
    request = json.loads((state / REQUEST).read_text())
    folder = Path(request["folder"])
    pairs = [pair for path in request["changed"] for pair in _pairs(path, folder)]
    for function, code in pairs:
        function.__code__ = code
    _look_there(here, folder)
    return str(request["release"]), folder


def _pairs(path: str, folder: Path) -> list[tuple[FunctionType, CodeType]]:
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    module = sys.modules.get(name)
    if module is None:
        return []
    source = folder / path
    codes = dict(_codes(compile(source.read_bytes(), str(source), "exec")))
    functions = dict(_functions(module))
    for qualified, function in functions.items():
        code = codes.get(qualified)
        if code is None or code.co_freevars != function.__code__.co_freevars:
            raise DoesNotFit(f"{name}.{qualified}")
    return [(function, codes[qualified]) for qualified, function in functions.items()]


def _codes(code: CodeType) -> list[tuple[str, CodeType]]:
    found = []
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found += [(inner.co_qualname, inner), *_codes(inner)]
    return found


def _functions(module: ModuleType) -> list[tuple[str, FunctionType]]:
    """List a module's own functions and methods by their qualified names."""
    found = []
    for value in vars(module).values():
        inside = vars(value).values() if isinstance(value, type) else (value,)
        for member in inside:
            for plain in (member, *(getattr(member, name, None) for name in ("__func__", "fget"))):
                own = isinstance(plain, FunctionType) and plain.__module__ == module.__name__
                if own and "<" not in plain.__qualname__ and _is_written(plain, module):
                    found.append((plain.__qualname__, plain))
    return found


def _is_written(function: FunctionType, module: ModuleType) -> bool:
    """Tell a function of the source from one that was generated, as dataclasses do."""
    return function.__code__.co_filename.endswith(Path(module.__file__ or "").name)


def _look_there(here: Path, folder: Path) -> None:
    """Have modules that are imported later come from the new release."""
    sys.path[:] = [str(folder) if entry in {"", str(here)} else entry for entry in sys.path]
    for module in list(sys.modules.values()):
        places = getattr(module, "__path__", None)
        if isinstance(places, list):
            places[:] = [place.replace(str(here), str(folder), 1) for place in places]
