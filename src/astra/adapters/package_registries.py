"""Where packages come from: the operator's registries, and how pip, uv and npm are told of them.

No registry is named here. What `astra init` proposes is what pip and npm of this user go by: their
configuration files, else the addresses that these programs themselves bring along.
"""

import configparser
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from astra.trusted.sandbox import machine
from astra.trusted.settings.configuration import Target

_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_PIP_FILES = ("/etc/pip.conf", "~/.pip/pip.conf", "~/.config/pip/pip.conf")
_NPM_SECONDS = 20.0


def find_python(target: Target) -> Path:
    """Give the operator's own choice in `target.toolchain`, else the one that Astra runs on."""
    for text in target.toolchain:
        if Path(text).name.startswith("python"):
            return Path(text)
    return Path(getattr(sys, "_base_executable", sys.executable))


def list_hosts(registries: tuple[str, ...]) -> tuple[str, ...]:
    """Give the hosts of registries, as a box is granted them."""
    parts = (urlsplit(address) for address in registries)
    hosts = (f"{part.hostname}:{part.port}" if part.port else str(part.hostname) for part in parts)
    return tuple(dict.fromkeys(hosts))


def make_variables(registries: tuple[str, ...], kind: str) -> dict[str, str]:
    """Tell pip, uv and npm where to fetch from; their own configuration files are not there."""
    variables = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_CACHE_DIR": "1"}
    if _CERTIFICATES.exists():
        names = ("PIP_CERT", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE")
        variables |= dict.fromkeys(names, str(_CERTIFICATES))
    if registries and kind != "venv":  # a command may run either
        variables["npm_config_registry"] = registries[0]
    if registries and kind != "npm":
        variables |= {"PIP_INDEX_URL": registries[0], "UV_DEFAULT_INDEX": registries[0]}
    return variables


def propose_registries(kind: str) -> tuple[str, ...]:
    """Say which registries pip or npm of this user would use; nothing where nobody can tell."""
    if kind == "npm":
        return tuple(_ask_npm())
    configured = tuple(_read_pip_files())
    return configured or tuple(_read_pip_defaults())


def _read_pip_files() -> Iterator[str]:
    for name in _PIP_FILES:
        parser = configparser.RawConfigParser()
        try:
            parser.read(Path(name).expanduser(), encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError):
            continue
        address = parser.get("global", "index-url", fallback="").strip()
        if address.startswith("http"):
            yield address


def _read_pip_defaults() -> Iterator[str]:
    """Read the index and its file server from pip itself."""
    try:
        index = importlib.import_module("pip._internal.models.index").PyPI
    except (ImportError, AttributeError):
        return
    yield str(index.simple_url)
    yield f"https://{index.file_storage_domain}"


def _ask_npm() -> Iterator[str]:
    """Ask npm for its registry, in a folder without a project's own settings."""
    program = shutil.which("npm", path=machine.SYSTEM_PATH)
    if program is None:
        return
    environment = {"PATH": machine.SYSTEM_PATH, "HOME": os.path.expanduser("~")}  # noqa: PTH111 - a text
    try:
        answer = subprocess.run(
            [program, "config", "get", "registry"],
            cwd="/",
            env=environment,
            capture_output=True,
            timeout=_NPM_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    address = answer.stdout.decode("utf-8", "replace").strip()
    if address.startswith("http"):
        yield address
