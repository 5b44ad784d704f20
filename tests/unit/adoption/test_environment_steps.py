"""Environments are built from lock files, by steps that a box runs."""

from astra.adoption.environment_steps import choose_kind, write_recipe
from astra.adoption.repository_files import RepositoryFiles


def steps(texts: dict[str, str], kind: str = "venv", runner: str = "") -> list[str]:
    files = RepositoryFiles(paths=frozenset(texts), texts=texts)
    return [" ".join(step) for step in write_recipe(kind, files, runner=runner).steps]


def test_requirements_for_running_and_for_testing_are_installed() -> None:
    lines = steps({"requirements.txt": "", "requirements-dev.txt": "", "requirements-docs.txt": ""})
    assert [line.rpartition(" ")[2] for line in lines[1:]] == [
        "requirements-dev.txt",
        "requirements.txt",
    ]


def test_a_package_is_installed_as_a_pointer_with_its_test_extras() -> None:
    project = '[project]\nname = "a"\n[project.optional-dependencies]\ntest = ["x"]\ndocs = ["y"]'
    built = f"{project}\n[build-system]\n"
    assert steps({"pyproject.toml": built})[-1].endswith("--editable .[test]")
    for place in ("src/b/__init__.py", "a/__init__.py"):
        assert steps({"pyproject.toml": project, place: ""})[-1].endswith("--editable .[test]")


def test_a_program_without_a_build_system_gets_its_dependencies_and_is_not_installed() -> None:
    project = (
        '[project]\nname = "a"\ndependencies = ["flask>=3", "--index-url=http://evil"]\n'
        '[project.optional-dependencies]\ntest = ["pytest-cov"]\ndocs = ["sphinx"]\n'
    )
    texts = {"pyproject.toml": project, "app.py": "", "test_app.py": ""}
    assert steps(texts)[-1].endswith("off flask>=3 pytest-cov")
    assert not any("--editable" in line for line in steps({**texts, "uv.lock": ""}))


def test_groups_are_read_and_what_looks_like_an_option_is_not() -> None:
    groups = '[dependency-groups]\ndev = ["pytest>=8", "--index-url=http://evil"]\n'
    assert "pytest>=8" in steps({"pyproject.toml": groups})[1]
    assert not any("evil" in line for line in steps({"pyproject.toml": groups}))


def test_a_lock_of_uv_is_exported_and_installed_as_it_is() -> None:
    lines = steps({"uv.lock": "", "pyproject.toml": "[project]\n"})
    assert "--frozen" in lines[2]
    assert "--no-deps" in lines[-1]


def test_the_runner_of_the_tests_is_always_there() -> None:
    assert steps({"requirements.txt": ""}, runner="pytest")[-1].endswith(" pytest")


def test_packages_that_the_operator_names_come_after_those_of_the_files() -> None:
    files = RepositoryFiles(paths=frozenset({"requirements.txt", "package.json"}))
    packages = ("redis>=5", "hiredis")
    *_, last = write_recipe("venv", files, runner="pytest", packages=packages).steps
    assert last[-3:] == ("redis>=5", "hiredis", "pytest")
    *_, last = write_recipe("npm", files, packages=("@types/node",)).steps
    assert (last[:3], last[-1]) == (("npm", "install", "--no-save"), "@types/node")


def test_npm_goes_by_the_lock_where_there_is_one() -> None:
    assert " ci " in steps({"package.json": "{}", "package-lock.json": "{}"}, "npm")[-1]
    assert " install " in steps({"package.json": "{}"}, "npm")[-1]


def test_the_projects_own_scripts_do_not_run_where_its_files_are_not() -> None:
    lines = steps({"package.json": '{"scripts": {"prepare": "tsc"}}'}, "npm")
    assert lines[1] == "npm pkg delete --prefix {environment} scripts"


def test_auto_chooses_by_the_files() -> None:
    def choose(*names: str) -> str:
        return choose_kind("auto", RepositoryFiles(paths=frozenset(names)))

    assert choose("requirements.txt", "package.json") == "venv"
    assert choose("package.json") == "npm"
    assert choose("README.md") == ""


def test_an_extra_that_brings_the_server_is_installed_too() -> None:
    extras = 'docs = ["sphinx"]\nmainapp = ["gunicorn>=20", "gevent"]\n"a;b" = ["uvicorn"]\n'
    project = f'[project]\nname = "a"\n[project.optional-dependencies]\ntest = ["x"]\n{extras}'
    texts = {"pyproject.toml": f"{project}[build-system]\n"}
    files = RepositoryFiles(paths=frozenset(texts), texts=texts)
    *_, editable = write_recipe("venv", files).steps
    assert editable[-2:] == ("--editable", ".[test,mainapp]")


def test_a_whole_list_of_hashes_is_installed_without_asking_what_else_is_needed() -> None:
    written = steps({"pyproject.toml": '[project]\nname = "a"', "uv.lock": ""})
    (install,) = [step for step in written if "astra-requirements" in step and " -r " in step]
    assert "--no-deps -r" in install
