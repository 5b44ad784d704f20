"""The wheel as a stranger gets it: built, installed without the checkout, and used."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import astra
from driver import make_repository

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.xdist_group("wheel"), pytest.mark.timeout(900)]


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=ROOT)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean environment with the wheel and its locked requirements; gives its `bin`."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", folder=folder)
    python = folder / "venv" / "bin" / "python"
    locked = ("--require-hashes", "-r", ROOT / "requirements" / "runtime.txt")
    for packages in (locked, ("--no-deps", wheel)):
        run(*_install_into(python), *packages, folder=folder)
    return python.parent


def _install_into(python: Path) -> tuple[str | Path, ...]:
    """Prefer uv, whose cache makes this a matter of seconds; `make setup` installs it."""
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv:
        return (uv, "pip", "install", "--quiet", "--python", python)
    return (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")


def test_the_wheel_carries_the_dashboard_the_example_and_its_types(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    pages = {name.partition("astra/interfaces/web/dist/")[2] for name in names}
    assert {"index.html", "sw.js", "manifest.webmanifest", "icon-192.png"} <= pages
    assert any(name.startswith("assets/index-") and name.endswith(".js") for name in pages)
    docs = {name.partition("astra/interfaces/web/docs/")[2] for name in names}
    assert {"index.html", "search.json", "site.css", "tutorial/first-steps.html"} <= docs
    assert {"astra/py.typed", "astra/examples/agent_server/agent_server/api.py"} <= {*names}
    assert not any("node_modules" in name or "__pycache__" in name for name in names)


def test_the_wheel_carries_its_bill_of_materials(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
    document = json.loads(archive.read(name))
    purls = {component["purl"].partition("@")[0] for component in document["components"]}
    assert document["metadata"]["component"]["version"] == astra.__version__
    assert {"pkg:pypi/cryptography", "pkg:pypi/fastapi", "pkg:npm/react"} <= purls
    assert not {"pkg:pypi/pytest", "pkg:npm/vite"} & purls


def test_the_metadata_says_what_the_package_is(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["Name"] == "astra"
    assert metadata["Version"] == astra.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata["Summary"]
    assert metadata["Keywords"]
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])


def test_the_installed_command_knows_its_version_and_needs_no_checkout(
    programs: Path, tmp_path: Path
) -> None:
    assert run(programs / "astra", "--version", folder=tmp_path) == f"astra {astra.__version__}\n"
    place = "import astra; print(astra.__file__)"
    assert str(ROOT) not in run(programs / "python", "-c", place, folder=tmp_path)


def test_the_demo_runs_from_the_installed_wheel(programs: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    story = run(
        programs / "astra",
        "demo",
        folder=tmp_path,
        HOME=str(home),
        XDG_CONFIG_HOME=str(home / "config"),
    )
    assert story.count(", 0 lost") == 2
    assert "rolled_back" in story
    assert story.rstrip().splitlines()[-1].lstrip().startswith("ok: ")


def test_uv_tool_install_gives_a_complete_astra_with_its_dashboard(
    wheel: Path, tmp_path: Path
) -> None:
    """As `pipx install` does: an environment of its own and a command on the path."""
    uv = Path(sys.executable).with_name("uv")
    folders = {
        "UV_TOOL_DIR": str(tmp_path / "tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "bin"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "AGENT_DATA_ROOT": str(tmp_path / "data"),
        "ASTRA_OPERATOR_PASSPHRASE": "correct horse battery",
    }
    locked = ("--constraints", ROOT / "requirements" / "runtime.txt")
    run(uv, "tool", "install", "--quiet", *locked, wheel, folder=tmp_path, **folders)
    command = tmp_path / "bin" / "astra"
    assert run(command, "--version", folder=tmp_path) == f"astra {astra.__version__}\n"
    pages = list((tmp_path / "tools").rglob("astra/interfaces/web/dist/index.html"))
    assert len(pages) == 1
    repository = make_repository(tmp_path / "target")
    run(command, "init", repository, "--throwaway", folder=tmp_path, **folders)
    report = json.loads(run(command, "smoke", "--json", folder=tmp_path, **folders))
    assert report["ok"] is True
    assert "AstraDisk" in run(command, "alerts", "export", "prometheus", folder=tmp_path, **folders)
    run(command, "down", folder=tmp_path, **folders)
