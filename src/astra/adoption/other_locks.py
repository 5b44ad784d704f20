"""Lock files that Astra builds nothing from: what to write into `astra.toml` to have them count.

The commands are for `[target] environment_command`. They run in the box of the environment, with
the package registry as the only host, and fill the folder that they are told.

>>> find_lock(RepositoryFiles(paths=frozenset({"pnpm-lock.yaml"}))).path
'pnpm-lock.yaml'
"""

from dataclasses import dataclass

from astra.adoption.repository_files import RepositoryFiles

_FOLDER = '"$ENVIRONMENT_FOLDER"'
_TOOLS = "/tmp/tools"  # noqa: S108 - the box's own
_LISTED = f"{_TOOLS}/locked.txt"


@dataclass(frozen=True, kw_only=True)
class OtherLock:
    path: str
    instead: str
    """What "auto" goes by in its place."""
    command: str


def _in_shell(*steps: str) -> str:
    return f"sh -ec '{'; '.join(steps)}'"


def _in_virtual_environment(tools: str, list_packages: str) -> str:
    """Write a list of what is locked with the tool that locked it, and install that."""
    return _in_shell(
        f"{{python}} -m venv {_TOOLS}",
        f"{_TOOLS}/bin/pip install {tools}",
        list_packages,
        f"{{python}} -m venv {_FOLDER}",
        f"{_FOLDER}/bin/pip install -r {_LISTED}",
    )


def _in_node_folder(lock: str, *commands: str) -> str:
    return _in_shell(f"cp package.json {lock} {_FOLDER}/", f"cd {_FOLDER}", *commands)


# yarn (1) goes by the hosts in the lock, whatever registry it is told. What is fetched is still
# held against the lock's digests.
_FETCH_FROM_REGISTRY = (
    r'registry=$(printf %s "$npm_config_registry" | sed "s#/*\$##")',
    r'sed -E -i "s#^( *resolved .)https?://[^/]+/#\1$registry/#" yarn.lock',
)


_LOCKS = (
    OtherLock(
        path="poetry.lock",
        instead="pyproject.toml",
        command=_in_virtual_environment(
            "poetry poetry-plugin-export",
            f"{_TOOLS}/bin/poetry export --all-groups --output {_LISTED}",
        ),
    ),
    OtherLock(
        path="pdm.lock",
        instead="pyproject.toml",
        command=_in_virtual_environment(
            '"pdm[locked]"',  # by itself it takes newer packages than it can work with
            f"{_TOOLS}/bin/pdm export --output {_LISTED}",
        ),
    ),
    OtherLock(
        path="Pipfile.lock",
        instead="requirements and pyproject.toml",
        command=_in_virtual_environment(
            "pipenv", f"{_TOOLS}/bin/pipenv requirements --dev > {_LISTED}"
        ),
    ),
    OtherLock(
        path="yarn.lock",
        instead="package.json",
        command=_in_node_folder(
            "yarn.lock", *_FETCH_FROM_REGISTRY, "npx --yes yarn@1 install --frozen-lockfile"
        ),
    ),
    OtherLock(
        path="pnpm-lock.yaml",
        instead="package.json",
        command=_in_node_folder("pnpm-lock.yaml", "npx --yes pnpm@9 install --frozen-lockfile"),
    ),
)
_READ_LOCKS = ("uv.lock", "package-lock.json", "npm-shrinkwrap.json", "requirements.txt")


def find_lock(files: RepositoryFiles) -> OtherLock | None:
    """Find a lock file that nothing is built from, unless there is one beside it that is."""
    if files.has(*_READ_LOCKS):
        return None
    return next((lock for lock in _LOCKS if files.has(lock.path)), None)
