"""Places that no grant may touch, and names that no write grant covers.

Hidden places are neither read nor written by an agent: Astra's own state, keys and install, shell
start-up files, kernel file systems. Fixed places can be read and never written: the system's own
folders. Watched names (CI, hooks, agent and editor settings) can be read anywhere; changing
them takes an operator's consent to that very path, so a write grant above them does not cover them.

Comparison ignores case and Unicode spelling: protection is generous where grants are exact.

>>> places = ProtectedPlaces(hidden=frozenset({"/srv/astra/var"}))
>>> places.place_of("/srv/astra/VAR/ledger/2026-01.ndjson", write=False)
'/srv/astra/var'
>>> places.watched_name("docs/.github/workflows/ci.yml")
'.github'
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from astra.trusted.policy import paths
from astra.trusted.policy.globs import Glob

KERNEL_PLACES = frozenset(
    {"/proc", "/sys", "/dev", "/run/secrets", "/run/credentials", "/run/user"}
)
SYSTEM_PLACES = frozenset(
    f"/{name}" for name in ("bin", "boot", "etc", "lib", "lib32", "lib64", "run", "sbin", "usr")
)
PASSWORD_PLACES = frozenset({"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d"})
START_UP_FILES = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
)
ASTRA_FILES = ("var", "astra.toml", ".env")
WATCHED_NAMES = frozenset(
    {
        ".circleci",
        ".claude",
        ".envrc",
        ".githooks",
        ".github",
        ".gitlab-ci.yml",
        ".gitmodules",
        ".husky",
        ".mcp.json",
        ".pre-commit-config.yaml",
        ".vscode",
        "agents.md",
        "claude.md",
    }
)


@dataclass(frozen=True, kw_only=True)
class ProtectedPlaces:
    hidden: frozenset[str]
    fixed: frozenset[str] = SYSTEM_PLACES
    watched: frozenset[str] = WATCHED_NAMES

    def place_of(self, text: str, *, write: bool) -> str | None:
        """Name the protected place this path is or lies in."""
        for folder in _with_ancestors(paths.fold(text)):
            if folder in self.hidden or (write and folder in self.fixed):
                return folder
        return None

    def find_place_below(self, text: str, *, write: bool) -> str | None:
        """Name a protected place that lies below this folder."""
        folder = paths.fold(text).rstrip("/") + "/"
        return next((p for p in self._list_places(write=write) if p.startswith(folder)), None)

    def find_place_reached(self, glob: Glob, *, write: bool) -> str | None:
        """Name a protected place in which the glob could match something."""
        return next((p for p in self._list_places(write=write) if glob.reaches(p)), None)

    def watched_name(self, text: str) -> str | None:
        return next((name for name in paths.fold(text).split("/") if name in self.watched), None)

    def _list_places(self, *, write: bool) -> list[str]:
        return self._closed_to_writing if write else self._closed_to_reading

    @cached_property
    def _closed_to_reading(self) -> list[str]:
        return sorted(self.hidden)

    @cached_property
    def _closed_to_writing(self) -> list[str]:
        return sorted(self.hidden | self.fixed)


def protected_places(
    *, data_root: str, home: str, others: Iterable[str] = (), watched: Iterable[str] = ()
) -> ProtectedPlaces:
    """Collect what a data root protects; `others` are key folders and Astra's install."""
    hidden = KERNEL_PLACES | PASSWORD_PLACES | set(others)
    hidden |= {f"{data_root.rstrip('/')}/{name}" for name in ASTRA_FILES}
    hidden |= {f"{home.rstrip('/')}/{name}" for name in START_UP_FILES}
    return ProtectedPlaces(
        hidden=frozenset(paths.fold(place) for place in hidden),
        watched=WATCHED_NAMES | {paths.fold(name) for name in watched},
    )


def _with_ancestors(text: str) -> Iterator[str]:
    while text:
        yield text
        text = text.rpartition("/")[0]
