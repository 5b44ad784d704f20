"""The Python interpreters of this machine, for `astra init` to choose from.

Looked for where they are usually installed: the system's folders, pyenv and uv of this user. A
repository has no say in where: its words only choose among what was there before.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from astra.adoption.detected import Detected
from astra.adoption.python_versions import Interpreter, Version, allows_version, choose_interpreter
from astra.trusted.kernel.text import one_line
from astra.trusted.sandbox import machine

_NAME = re.compile(r"python3\.\d+")
_USERS = (".pyenv/versions/*/bin", ".local/share/uv/python/*/bin")
_ASK = "import sys; print(*sys.version_info[:3])"
_ASK_NODE = "process.versions.node.split(/[.-]/).slice(0, 3).join(' ')"
_NODE_LANGUAGES = frozenset({"javascript", "typescript"})
_SECONDS = 20.0


def propose_toolchain(detected: Detected) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Name the interpreter that a repository needs besides Astra's own, or say that none is here.

    The version of each is what the program itself says. node is the one of the system.
    """
    if detected.language in _NODE_LANGUAGES:
        return (), _judge_node(detected.versions)
    if detected.language != "python" or allows_version(detected.versions, sys.version_info[:3]):
        return (), ()
    interpreter = choose_interpreter(detected.versions, _list_interpreters())
    if interpreter is not None:
        return (str(interpreter.path),), ()
    own_version = ".".join(map(str, sys.version_info[:2]))
    trouble = (
        f"it asks for Python {one_line(detected.versions, 60)}, Astra runs on {own_version}, and"
        " no other one was found: install one and name it in [target] toolchain"
    )
    return (), (trouble,)


def _judge_node(versions: str) -> tuple[str, ...]:
    node = shutil.which("node", path=machine.SYSTEM_PATH)
    version = _ask_version(Path(node), "-p", _ASK_NODE) if node else None
    if version is not None and allows_version(versions, version):
        return ()
    required_versions = one_line(versions, 60) or "any version"
    own_version = ".".join(map(str, version)) if version else "none"
    trouble = (
        f"it asks for node {required_versions}, and the one in the system's folders is"
        f" {own_version}: install one and call it by its whole path in test_command and [app]"
        " command"
    )
    return (trouble,)


def _list_interpreters() -> Iterator[Interpreter]:
    folders = [Path(name) for name in machine.SYSTEM_PATH.split(":")]
    folders += [folder for pattern in _USERS for folder in sorted(Path.home().glob(pattern))]
    for folder in folders:
        for path in sorted(folder.glob("python3.*")):
            version = (
                _ask_version(path, "-I", "-S", "-c", _ASK) if _NAME.fullmatch(path.name) else None
            )
            if version is not None:
                yield Interpreter(path=path, version=version)


def _ask_version(path: Path, *question: str) -> Version | None:
    try:
        answer = subprocess.run(
            [str(path), *question],
            cwd="/",
            env={"PATH": machine.SYSTEM_PATH},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
        major, minor, micro = map(int, answer.stdout.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return major, minor, micro
