"""A person brings a repository that Astra has never seen, and checks it before signing anything."""

import subprocess
from pathlib import Path

from driver import Astra

SERVER = """import http.server, sys


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()


if __name__ == "__main__":
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""
FILES = {
    "server.py": SERVER,
    "Procfile": "web: python3 server.py $PORT\n",
    "tests/__init__.py": "",
    "tests/test_server.py": "import unittest\n\n\nclass Works(unittest.TestCase):\n"
    "    def test_it(self):\n        import server\n",
}


def make_foreign_repository(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    return folder


def test_a_repository_is_recognised_checked_and_then_signed(empty: Astra, tmp_path: Path) -> None:
    made = empty.json("init", make_foreign_repository(tmp_path / "project"), "--throwaway")
    detected = made["detected"]
    assert detected["language"] == "python"
    assert detected["test_command"] == "python3 -m unittest discover -v"
    assert detected["app"] == {"command": "python3 server.py {port}", "health_path": "/healthz"}
    assert empty.json("status")["configuration"] != "signed"

    checked = empty.json("config", "check")
    assert [(item["name"], item["ok"]) for item in checked["items"]] == [
        ("configuration", True),
        ("places", True),
        ("sandbox", True),
        ("environment", True),
        ("tests", True),
        ("build", True),
        ("start", True),
        ("health", True),
    ]

    path = empty.root / "astra.toml"
    path.write_text(path.read_text().replace("/healthz", "/nowhere").replace("discover", "nosuch"))
    broken = empty.json("config", "check", code=1)
    trouble = {item["name"]: item for item in broken["items"] if not item["ok"]}
    assert set(trouble) == {"tests", "health"}
    assert "404" in trouble["health"]["detail"]
    assert "health_path" in trouble["health"]["fix"]
    assert list((empty.root / "deployments").glob("check-*")) == []


def test_a_migration_runs_before_the_start_in_a_check_as_it_will_for_a_release(
    empty: Astra, tmp_path: Path
) -> None:
    named = (
        *("--app", "sh -c 'test -s $PLACE && exec python3 server.py {port}'"),
        *("--env", "PLACE={state}/schema", "--before-start", "sh -c 'echo 1 > $PLACE'"),
    )
    repository = make_foreign_repository(tmp_path / "project")
    empty.json("init", repository, "--throwaway", "--yes", *named)
    checked = empty.json("config", "check")
    assert [item["name"] for item in checked["items"] if not item["ok"]] == []
    assert "before_start" in [item["name"] for item in checked["items"]]

    path = empty.root / "astra.toml"
    path.write_text(path.read_text().replace("echo 1", "printf %s"))
    broken = empty.json("config", "check", code=1)
    trouble = {item["name"]: item for item in broken["items"] if not item["ok"]}
    assert set(trouble) == {"start"}, "a migration that made nothing"
    path.write_text(path.read_text().replace("printf %s", "cat /nowhere"))
    broken = empty.json("config", "check", code=1)
    (missing,) = (item for item in broken["items"] if not item["ok"])
    assert (missing["name"], "/nowhere" in missing["detail"]) == ("before_start", True)


def test_a_variable_without_a_value_is_refused(empty: Astra, tmp_path: Path) -> None:
    repository = make_foreign_repository(tmp_path / "project")
    refused = empty.run("init", repository, "--throwaway", "--env", "PLACE")
    assert (refused.returncode, "not NAME=VALUE" in refused.stderr) == (2, True)


def test_what_init_guessed_wrong_is_named_on_its_line(empty: Astra, tmp_path: Path) -> None:
    repository = make_foreign_repository(tmp_path / "project")
    corrections = ("--tests", "python3 -m unittest tests.test_server", "--health", "/up")
    made = empty.json("init", repository, "--throwaway", "--yes", *corrections)
    assert made["detected"]["test_command"] == "python3 -m unittest tests.test_server"
    assert made["detected"]["app"] == {"command": "python3 server.py {port}", "health_path": "/up"}
    assert empty.json("status")["configuration"] == "signed"
    assert empty.json("environments", "list") == {"items": []}
    assert empty.json("environments", "remove", "--unused") == {"removed": []}
    missing = empty.json("environments", "remove", "nothing-like-this", code=1)
    assert missing["code"] == "not_found"
