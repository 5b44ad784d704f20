"""Run the unit and contract tests on the lowest and the highest Python that this machine has.

`make check` and `make test` use one interpreter. Of the others, from 3.11 on, the lowest and the
highest get a virtual environment each (`.venv-check-3.13`), made anew when the locked requirements
change. Where there is no other Python that is said, and is no failure.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOWEST, NEWEST = 11, 15
LOCKS = ("requirements/uv.txt", "requirements/dev.txt", "pyproject.toml")
TESTS = ("src", "tests/unit", "tests/contract")
_ASK = "import sys; print('{0}.{1} {3}'.format(*sys.version_info))"
_SECONDS = 20


def main() -> int:
    own = f"3.{sys.version_info.minor}"
    pythons = find_pythons()
    chosen = choose(list(pythons), own)
    if not chosen:
        print(f"no other Python from 3.{LOWEST} to 3.{NEWEST} runs here; {own} is checked already")
    for version in chosen:
        print(f"Python {version}: {pythons[version]}", flush=True)
        if code := check(version, pythons[version]):
            return code
    return 0


def choose(versions: list[str], own: str) -> list[str]:
    """Name the lowest and the highest version, without the one that is checked anyway.

    >>> choose(["3.13", "3.11", "3.12"], "3.11"), choose(["3.12", "3.13", "3.14"], "3.13")
    (['3.13'], ['3.12', '3.14'])
    >>> choose(["3.11"], "3.11")
    []
    """
    ordered = sorted({*versions, own}, key=lambda version: int(version.partition(".")[2]))
    return [version for version in dict.fromkeys((ordered[0], ordered[-1])) if version != own]


def find_pythons() -> dict[str, Path]:
    """Find an interpreter of each version that really runs: a shim may stand for none."""
    pythons: dict[str, Path] = {}
    for minor in range(LOWEST, NEWEST + 1):
        version = f"3.{minor}"
        running = (path for path in candidates(version) if runs(path, version))
        if path := next(running, None):
            pythons[version] = path
    return pythons


def candidates(version: str) -> Iterator[Path]:
    """Give what may be that interpreter: on the path, or installed by pyenv without being on it."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders += sorted(pyenv.glob(f"versions/{version}*/bin"))
    for folder in folders:
        path = folder / f"python{version}"
        if os.access(path, os.X_OK):
            yield path


def runs(path: Path, version: str) -> bool:
    """Tell whether it answers with this version, and is no preview of one."""
    try:
        answer = subprocess.run(
            [path, "-c", _ASK], capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and answer.stdout.strip() == f"{version} final"


def check(version: str, python: Path) -> int:
    folder = make_environment(version, python)
    command = [folder / "bin/pytest", "-q", "-n", "2", "--dist", "loadgroup", *TESTS]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def make_environment(version: str, python: Path) -> Path:
    """Make a virtual environment, unless the one that is there has these requirements."""
    folder = ROOT / f".venv-check-{version}"
    ready, locked = folder / ".ready", locked_digest()
    if ready.is_file() and ready.read_text() == locked:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    uv = Path(sys.executable).with_name("uv")
    subprocess.run([uv, "venv", "--quiet", "--python", python, folder], check=True)
    install = [uv, "pip", "install", "--quiet", "--python", folder / "bin/python"]
    for words in (
        ["--require-hashes", "-r", "requirements/dev.txt"],
        ["--no-deps", "--no-build-isolation", "--editable", "."],
    ):
        subprocess.run([*install, *words], cwd=ROOT, check=True)
    ready.write_text(locked)
    return folder


def locked_digest() -> str:
    return hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in LOCKS)).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
