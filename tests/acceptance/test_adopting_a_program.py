"""A project that brings its own server as a program is recognised, installed and started."""

import subprocess
from pathlib import Path

from driver import Astra

# A build backend without requirements, so that nothing is fetched while it is installed.
BACKEND = r'''"""Builds what pip needs to have the project point to its folder."""
import zipfile
from pathlib import Path

INFO = "notes-1.dist-info"
FILES = {
    "notes.pth": f"{Path.cwd() / 'src'}\n",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: notes\nVersion: 1\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/entry_points.txt": "[console_scripts]\nnotes = notes.cli:main\n",
    f"{INFO}/RECORD": "",
}


def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "notes-1-py3-none-any.whl"
    with zipfile.ZipFile(Path(folder) / name, "w") as wheel:
        for path, text in FILES.items():
            wheel.writestr(path, text)
    return name


build_wheel = build_editable
'''
CLI = """import argparse, http.server


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    port = parser.parse_args().port
    http.server.HTTPServer(("127.0.0.1", port), Answer).serve_forever()
"""
FILES = {
    "pyproject.toml": '[project]\nname = "notes"\nversion = "1"\n'
    '[project.scripts]\nnotes = "notes.cli:main"\n'
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    "backend.py": BACKEND,
    "src/notes/__init__.py": "",
    "src/notes/cli.py": CLI,
    "tests/__init__.py": "",
    "tests/test_cli.py": "import unittest\n\nfrom notes import cli\n\n\n"
    "class Works(unittest.TestCase):\n    def test_it(self):\n        assert cli.main\n",
}


def test_a_program_of_the_project_is_installed_and_started_from_the_release(
    empty: Astra, tmp_path: Path
) -> None:
    repository = tmp_path / "project"
    for name, text in FILES.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)

    made = empty.json("init", repository, "--throwaway", "--yes")
    assert made["detected"]["environment"] == "auto"
    assert made["detected"]["app"] == {"command": "notes --port {port}", "health_path": "/healthz"}

    checked = empty.json("config", "check")
    assert [item["name"] for item in checked["items"] if not item["ok"]] == []
    assert {"environment", "tests", "start", "health"} <= {i["name"] for i in checked["items"]}

    (stored,) = empty.json("environments", "list")["items"]
    assert stored["used_by"][0] == "the target's branch"
    refused = empty.json("environments", "remove", stored["name"], code=1)
    assert "in use" in refused["detail"]
