"""Which commands make an environment from the lock files of a repository. Pure; a box runs them.

`{python}` stands for the interpreter, `{environment}` for the folder that is filled. The project
itself is installed as a pointer to the workspace, so that its metadata and console scripts are
there and its code is always the commit under test.

>>> files = RepositoryFiles(paths=frozenset({"package.json", "package-lock.json"}))
>>> choose_kind("auto", files)
'npm'
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from astra.adoption.repository_files import RepositoryFiles, get_section, list_texts

Step = tuple[str, ...]
_GROUPS = ("test", "tests", "testing", "dev")
_SERVERS = frozenset({"daphne", "granian", "gunicorn", "hypercorn", "uvicorn", "waitress"})
_EXTRA = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
_REQUIREMENTS = re.compile(
    r"requirements(?:[-_](?:dev|tests?|testing|ci))?\.txt|(?:dev|test)-requirements\.txt"
    r"|requirements/(?:base|dev|development|tests?|testing)\.txt"
)
_PLAIN_REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.,\[\]<>=!~;' \"()*+-]*")
_QUIETLY = ("--no-input", "--no-cache-dir", "--progress-bar", "off")
_PIP = ("{environment}/bin/python", "-m", "pip", "install", *_QUIETLY)
_EXPORTED = "/tmp/astra-requirements.txt"  # noqa: S108 - the box's own
_NPM = ("--no-audit", "--no-fund", "--cache", "/tmp/npm")  # noqa: S108 - the box's own


@dataclass(frozen=True, kw_only=True)
class Recipe:
    kind: str
    steps: tuple[Step, ...]


def choose_kind(setting: str, files: RepositoryFiles) -> str:
    """Decide what "auto" means here; empty where there is nothing to build from."""
    if setting != "auto":
        return setting
    python_files = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
    if files.has(*python_files) or _find_requirements(files):
        return "venv"
    return "npm" if files.has("package.json") else "venv" if files.find(r"(?:.*/)?\w+\.py") else ""


def write_recipe(
    kind: str, files: RepositoryFiles, *, runner: str = "", packages: tuple[str, ...] = ()
) -> Recipe:
    """Write the steps; `runner` and `packages` have to be there in any case."""
    if kind == "npm":
        return Recipe(kind=kind, steps=tuple(_npm_steps(files, packages)))
    named_packages = (*packages, runner) if runner else packages
    return Recipe(kind=kind, steps=tuple(_venv_steps(files, named_packages)))


def _venv_steps(files: RepositoryFiles, packages: tuple[str, ...]) -> Iterator[Step]:
    yield ("{python}", "-m", "venv", "{environment}")
    if files.has("uv.lock"):
        yield (*_PIP, "uv")
        export = ("export", "--quiet", "--frozen", "--all-groups", "--no-emit-project")
        yield ("{environment}/bin/uv", *export, "--output-file", _EXPORTED)
        # The list is whole; pip would refuse `name[extra]` that a package asks for in it.
        yield (*_PIP, "--no-deps", "-r", _EXPORTED)
    for path in _find_requirements(files):
        yield (*_PIP, "-r", path)
    if requirements := _list_group_requirements(files):
        yield (*_PIP, *requirements)
    if _is_package(files):
        extras = _list_extras(files)
        place = f".[{','.join(extras)}]" if extras else "."
        no_dependencies = ("--no-deps",) if files.has("uv.lock") else ()
        yield (*_PIP, *no_dependencies, "--editable", place)
    elif requirements := _list_project_requirements(files):
        yield (*_PIP, *requirements)
    if packages:
        yield (*_PIP, *packages)


def _npm_steps(files: RepositoryFiles, packages: tuple[str, ...]) -> Iterator[Step]:
    locks = ("package-lock.json", "npm-shrinkwrap.json")
    described = [name for name in ("package.json", *locks) if files.has(name)]
    yield ("cp", *described, "{environment}/")
    # The project's own scripts (prepare, postinstall) want files that are not in that folder.
    yield ("npm", "pkg", "delete", "--prefix", "{environment}", "scripts")
    how = "ci" if files.has(*locks) else "install"
    yield ("npm", how, "--prefix", "{environment}", *_NPM)
    if packages:
        yield ("npm", "install", "--no-save", "--prefix", "{environment}", *_NPM, *packages)


def _find_requirements(files: RepositoryFiles) -> tuple[str, ...]:
    return tuple(sorted(path for path in files.paths if _REQUIREMENTS.fullmatch(path)))


def _is_package(files: RepositoryFiles) -> bool:
    """Tell whether the project itself can be installed.

    Without a build system it is a program beside its list of dependencies, as `uv init` writes it,
    unless it says what would be installed.
    """
    document = files.read_table("pyproject.toml")
    project = get_section(document, "project")
    name = re.sub(r"[-.]+", "_", str(project.get("name", ""))).lower()
    says_what = (
        "scripts" in project
        or "setuptools" in get_section(document, "tool")
        or files.has(f"{name}/__init__.py")
        or files.find(r"src/[^/]+/__init__\.py")
    )
    return files.has("setup.py") or "build-system" in document or bool(project and says_what)


def _list_project_requirements(files: RepositoryFiles) -> tuple[str, ...]:
    """List what a project that is no package depends on, with its extras for tests and servers."""
    project = get_section(files.read_table("pyproject.toml"), "project")
    if files.has("uv.lock"):
        return ()
    extras = get_section(project, "optional-dependencies")
    lists = (project.get("dependencies"), *(extras[name] for name in _list_extras(files)))
    requirements = (text for texts in lists for text in list_texts(texts))
    return tuple(text for text in requirements if _PLAIN_REQUIREMENT.fullmatch(text))


def _list_extras(files: RepositoryFiles) -> tuple[str, ...]:
    project = get_section(files.read_table("pyproject.toml"), "project")
    extras = get_section(project, "optional-dependencies")
    declared = files.read_text("setup.py").partition("extras_require")[2]
    of_tests = (
        name for name in _GROUPS if name in extras or re.search(rf"[\"']{name}[\"']\s*:", declared)
    )
    of_servers = (name for name in extras if _names_server(name, list_texts(extras[name])))
    return tuple(dict.fromkeys((*of_tests, *of_servers)))


def _names_server(extra: str, requirements: tuple[str, ...]) -> bool:
    """Tell whether an extra brings the server that the app is started with."""
    names = {re.split(r"[^A-Za-z0-9_-]", text.strip().lower())[0] for text in requirements}
    return _EXTRA.fullmatch(extra) is not None and not names.isdisjoint(_SERVERS)


def _list_group_requirements(files: RepositoryFiles) -> tuple[str, ...]:
    groups = get_section(files.read_table("pyproject.toml"), "dependency-groups")
    if files.has("uv.lock"):
        return ()
    requirements = (text for name in _GROUPS for text in list_texts(groups.get(name)))
    return tuple(text for text in requirements if _PLAIN_REQUIREMENT.fullmatch(text))
