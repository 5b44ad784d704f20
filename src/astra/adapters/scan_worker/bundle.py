"""Packs the rules and all that they import into one file of compiled modules.

A box does not see Astra's install, and compiling the rules for each change would cost more than
running them.
"""

import importlib.util
import io
import marshal
import zipfile
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path

_BUNDLED = (
    "astra",
    "astra.adapters",
    "astra.adapters.scan_worker",
    "astra.adapters.scan_worker.checkers",
    "astra.adapters.scan_worker.program",
    "astra.changes",
    "astra.trusted",
    "astra.trusted.changes",
    "astra.trusted.changes.evidence",
    "astra.trusted.changes.files",
    "astra.trusted.changes.places",
    "astra.trusted.kernel",
    "astra.trusted.kernel.errors",
    "astra.trusted.kernel.masking",
    "astra.trusted.kernel.text",
    "astra.trusted.policy",
    "astra.trusted.policy.globs",
    "astra.trusted.policy.paths",
    "astra.trusted.policy.protected",
    "astra.trusted.policy.secrets",
)
_FINDINGS = "astra.changes.findings"
_NO_CODE = b"\0" * 12  # flags, and the source's time and size, which nobody compares in a bundle


@cache
def bundle() -> bytes:
    """Compile the rules and all that they import into one file that Python runs."""
    names = (*_BUNDLED, _FINDINGS, *_modules_of(_FINDINGS))
    main = "from astra.adapters.scan_worker.program import main\nmain()\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("__main__.pyc", _compile_module(main, "__main__"))
        for name in names:
            path = Path(_find_origin(name))
            is_package = path.name == "__init__.py"
            place = name.replace(".", "/") + ("/__init__.pyc" if is_package else ".pyc")
            archive.writestr(place, _compile_module(path.read_text(encoding="utf-8"), name))
    return packed.getvalue()


def _compile_module(text: str, name: str) -> bytes:
    code = compile(text, f"<{name}>", "exec", dont_inherit=True)
    return MAGIC_NUMBER + _NO_CODE + marshal.dumps(code)


def _modules_of(package: str) -> tuple[str, ...]:
    folder = Path(_find_origin(package)).parent
    return tuple(f"{package}.{path.stem}" for path in sorted(folder.glob("[a-z]*.py")))


def _find_origin(name: str) -> str:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{name} is part of Astra and is not installed")
    return spec.origin
