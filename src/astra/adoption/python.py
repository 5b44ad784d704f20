"""Python projects: versions, runner, dependencies and app, from what their files say."""

import re
from collections.abc import Iterator

from astra.adoption.apps import find_health_path
from astra.adoption.console_scripts import find_server
from astra.adoption.detected import Detected, DetectedApp
from astra.adoption.repository_files import RepositoryFiles, get_section, list_texts
from astra.adoption.tox import read_tox_command

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_REQUIREMENT_FILES = r"(?:dev-|test-)?requirements[^/]*\.(?:txt|in)|requirements/[^/]+\.(?:txt|in)"
_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "tox.ini", "noxfile.py")
_TEST_FILES = r"(?:.*/)?(?:test_[^/]+|[^/]+_test|tests)\.py"
_QUOTED = re.compile(
    r"[\"']([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*(?:[<>=!~;@ ][^\"']*)?[\"']"
)
_ASGI = re.compile(
    r"^(\w+)\s*(?::[^=\n]+)?=\s*(?:FastAPI|Starlette|Litestar|Quart)\(", re.MULTILINE
)
_WSGI = re.compile(
    r"^(\w+)\s*(?::[^=\n]+)?=\s*(?:Flask|Bottle|create_app|make_app)\(", re.MULTILINE
)
_SCRIPT = "script"
_RUNTESTS = "runtests.py"
_FACTORY = re.compile(r"^def (create_app|make_app)\(", re.MULTILINE)


def detect(files: RepositoryFiles) -> Detected | None:
    is_python = files.has(*_MARKERS) or files.find(r"[^/]+\.py|" + _REQUIREMENT_FILES)
    if not is_python:
        return None
    packages = frozenset(_list_packages(files))
    runner, because = _find_runner(files, packages)
    app = _find_app(files, packages)
    has_program = app is not None and app.is_installed
    needs_environment = bool(packages) or runner in {"pytest", "nox", "tox"} or has_program
    return Detected(
        language="python",
        versions=_find_versions(files),
        runner=runner,
        test_command=_TEST_COMMANDS.get(runner) or read_tox_command(files),
        environment="auto" if needs_environment else "",
        app=app,
        because=because,
    )


_TEST_COMMANDS = {
    "pytest": "python -m pytest -q",
    "django": "python manage.py test",
    "unittest": "python3 -m unittest discover -v",
    "tox": "python -m tox run --current-env",
    "nox": "python -m nox --no-venv",
    _RUNTESTS: f"python {_RUNTESTS}",
}


def _find_runner(files: RepositoryFiles, packages: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """Name the runner and what says so: settings of pytest first, then what the tests import."""
    tests = files.find(_TEST_FILES)
    samples = [files.read_text(path) for path in tests]
    settings = _find_pytest_settings(files)
    candidates = (
        ("pytest", bool(settings), settings),
        ("pytest", _any_imports(samples, "pytest"), "the tests import pytest"),
        ("pytest", "pytest" in packages and bool(tests), "pytest is among the dependencies"),
        ("django", files.has("manage.py") and "django" in packages, "manage.py"),
        (_SCRIPT, bool(read_tox_command(files)), "the one command in tox.ini"),
        (_RUNTESTS, _any_imports([files.read_text(_RUNTESTS)], "unittest"), _RUNTESTS),
        ("unittest", _any_imports(samples, "unittest"), "the tests import unittest"),
        ("nox", files.has("noxfile.py"), "noxfile.py"),
        ("tox", files.has("tox.ini"), "tox.ini"),
        ("pytest", bool(tests), next(iter(tests), "")),
    )
    for runner, applies, reason in candidates:
        if applies:
            return runner, (reason,)
    return "", ()


def _any_imports(samples: list[str], module: str) -> bool:
    shape = re.compile(rf"^\s*(?:import|from) {module}\b", re.MULTILINE)
    return any(shape.search(text) for text in samples)


def _find_pytest_settings(files: RepositoryFiles) -> str:
    if files.has("pytest.ini", ".pytest.ini", "pytest.toml"):
        return "pytest.ini"
    tools = get_section(files.read_table("pyproject.toml"), "tool")
    if "pytest" in tools:
        return "[tool.pytest] in pyproject.toml"
    marks = {"tox.ini": ("[pytest]", "pytest"), "setup.cfg": ("[tool:pytest]",)}
    marks["noxfile.py"] = ("pytest",)
    for path, texts in marks.items():
        if any(text in files.read_text(path) for text in texts):
            return f"{path} names pytest"
    conftests = files.find(r"(?:.*/)?conftest\.py")
    return conftests[0] if conftests else ""


def _list_packages(files: RepositoryFiles) -> Iterator[str]:
    """Name every package that the project asks for, in lower case."""
    project = files.read_table("pyproject.toml")
    tables = (
        get_section(project, "tool", "poetry", "dependencies"),
        get_section(files.read_table("Pipfile"), "packages"),
    )
    yield from (name.lower() for table in tables for name in table if name != "python")
    for requirement in (*_list_requirements(project), *_list_requirement_lines(files)):
        yield from _package_name(requirement)
    inside = files.read_text("setup.py").partition("install_requires")[2][:5000]
    yield from (match[1].lower() for match in _QUOTED.finditer(inside))


def _list_requirement_lines(files: RepositoryFiles) -> Iterator[str]:
    for path in files.find(_REQUIREMENT_FILES):
        lines = files.read_text(path).splitlines()
        yield from (line for line in lines if not line.lstrip().startswith(("#", "-")))


def _list_requirements(project: dict[str, object]) -> Iterator[str]:
    metadata = get_section(project, "project")
    yield from list_texts(metadata.get("dependencies"))
    for group in (
        get_section(metadata, "optional-dependencies"),
        get_section(project, "dependency-groups"),
    ):
        for requirements in group.values():
            yield from list_texts(requirements)


def _package_name(requirement: str) -> Iterator[str]:
    match = _REQUIREMENT.match(requirement)
    if match:
        yield match[1].lower().replace("_", "-")


def _find_versions(files: RepositoryFiles) -> str:
    metadata = get_section(files.read_table("pyproject.toml"), "project")
    required_python = metadata.get("requires-python")
    texts = (required_python, files.read_text(".python-version"), files.read_text("runtime.txt"))
    return next((t.strip()[:60] for t in texts if isinstance(t, str) and t.strip()), "")


def _find_app(files: RepositoryFiles, packages: frozenset[str]) -> DetectedApp | None:
    for path in _list_sources(files):
        text, module = files.read_text(path), _name_module(path)
        if match := _ASGI.search(text):
            command = f"python -m uvicorn {module}:{match[1]} --host 127.0.0.1 --port {{port}}"
            return DetectedApp(
                command=command, health_path=find_health_path(files, path), because=path
            )
        if match := _WSGI.search(text) or _FACTORY.search(text):
            return _describe_wsgi(files, path, f"{module}:{match[1]}", packages)
    if files.has("manage.py") and "django" in packages:
        command = "python manage.py runserver --noreload 127.0.0.1:{port}"
        return DetectedApp(command=command, because="manage.py")
    return find_server(files)


def _describe_wsgi(
    files: RepositoryFiles, path: str, place: str, packages: frozenset[str]
) -> DetectedApp | None:
    health_path = find_health_path(files, path)
    is_factory = place.endswith(("create_app", "make_app"))
    if "gunicorn" in packages:
        call = f"'{place}()'" if is_factory else place
        command = f"python -m gunicorn {call} --bind 127.0.0.1:{{port}}"
    elif "flask" in packages:
        command = f"python -m flask --app {place} run --host 127.0.0.1 --port {{port}}"
    else:
        return None
    return DetectedApp(command=command, health_path=health_path, because=path)


def _name_module(path: str) -> str:
    """Name the module of a file.

    >>> _name_module("shop/__init__.py"), _name_module("shop/web.py")
    ('shop', 'shop.web')
    """
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _list_sources(files: RepositoryFiles) -> list[str]:
    """List the sources near the top, those with the usual names first; no tests, no examples."""
    usual = ("app.py", "main.py", "wsgi.py", "asgi.py", "server.py")
    no_sources = re.compile(_TEST_FILES + r"|(?:tests?|docs?|examples?|samples?|benchmarks?)/.*")
    sources = [p for p in files.find(r"(?:\w+/)?\w+\.py") if not no_sources.fullmatch(p)]
    return sorted(sources, key=lambda path: (path.rpartition("/")[2] not in usual, path.count("/")))
