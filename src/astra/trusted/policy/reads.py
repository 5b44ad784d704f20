"""The read boundary: which files of the machine an agent may look at.

Three scopes, each wider than the one before: `source` (the agent's own folders and the server's
data folders), `granted` (plus granted `read_paths`), `all` (the machine). In every scope secrets
and protected places stay closed. The boundary judges paths that are already resolved; the adapter
that opens files resolves first, asks here, and then opens exactly the path that was judged.

The scope in force is the narrowest anybody asked for: an environment can shrink it, never widen it.

>>> ReadScope.GRANTED.narrowed_to(ReadScope.ALL)
<ReadScope.GRANTED: 'granted'>
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

from astra.trusted.kernel.errors import Refused
from astra.trusted.policy.grants import PathGrants
from astra.trusted.policy.paths import AbsolutePath, parse_absolute, quote
from astra.trusted.policy.protected import ProtectedPlaces
from astra.trusted.policy.secrets import SecretRules

OWN_FOLDERS = ("persona_space", "code-repo", "sandbox")
SERVER_FOLDERS = ("models", "logs", "generated_images", "conversations", "deployments")


class ReadScope(StrEnum):
    SOURCE = "source"
    GRANTED = "granted"
    ALL = "all"

    def narrowed_to(self, other: "ReadScope") -> "ReadScope":
        return min(self, other, key=list(ReadScope).index)


class ReadProblem(StrEnum):
    SECRET = "read_secret"  # noqa: S105 - a reason code, not a password
    PROTECTED = "read_protected"
    OUTSIDE = "read_outside_scope"


class ReadRefused(Refused):
    """A file that may not be looked at; `problem` says why, from a closed list."""

    def __init__(self, problem: ReadProblem, detail: str, *, next_step: str) -> None:
        super().__init__(detail, next_step=next_step, code=problem.value)
        self.problem = problem


@dataclass(frozen=True, kw_only=True)
class ReadBoundary:
    scope: ReadScope
    folders: tuple[AbsolutePath, ...]
    protected: ProtectedPlaces
    grants: PathGrants | None = None
    secrets: SecretRules = field(default_factory=SecretRules)

    def check(self, path: AbsolutePath, *, shown_as: AbsolutePath | None = None) -> None:
        """Return when the resolved path may be read, raise `ReadRefused` in every other case."""
        shown_path = shown_as or path
        self.refuse_closed(path, shown_as=shown_path)
        if self._below_own_folder(path) is None and not self._is_in_scope(path):
            self.refuse_outside(shown_path)

    def refuse_closed(self, path: AbsolutePath, *, shown_as: AbsolutePath | None = None) -> None:
        """Refuse what no scope opens: a secret by its name, and protected places."""
        shown_path = shown_as or path
        own_path = self._below_own_folder(path)
        if rule := self.secrets.rule_for(path.text if own_path is None else own_path):
            refuse_secret(shown_path.text, rule)
        if place := self.protected.place_of(path.text, write=False):
            raise ReadRefused(
                ReadProblem.PROTECTED,
                f"{quote(shown_path.text)} lies in {place}, which no agent reads",
                next_step="ask the operator for what you need from it",
            )

    def _below_own_folder(self, path: AbsolutePath) -> str | None:
        for folder in self.folders:
            if path.text == folder.text or path.text.startswith(f"{folder.text}/"):
                return path.text[len(folder.text) :].lstrip("/")
        return None

    def _is_in_scope(self, path: AbsolutePath) -> bool:
        if self.scope is ReadScope.ALL:
            return True
        if self.scope is not ReadScope.GRANTED or self.grants is None:
            return False
        return self.grants.allows(path)

    def refuse_outside(self, path: AbsolutePath) -> NoReturn:
        names = ", ".join(folder.text.rpartition("/")[2] for folder in self.folders)
        raise ReadRefused(
            ReadProblem.OUTSIDE,
            f"{quote(path.text)} is outside the read scope `{self.scope}` ({names})",
            next_step="ask the operator for a read_paths grant and the read scope `granted`",
        )


def read_folders(
    data_root: str, *, code_repo: str | None = None, sandbox: str | None = None
) -> tuple[AbsolutePath, ...]:
    """List the folders of a data root that an agent may read in every scope."""
    custom_paths = {"code-repo": code_repo, "sandbox": sandbox}
    names = (*OWN_FOLDERS, *SERVER_FOLDERS)
    return tuple(parse_absolute(custom_paths.get(name) or f"{data_root}/{name}") for name in names)


def refuse_secret(text: str, rule: str) -> NoReturn:
    raise ReadRefused(
        ReadProblem.SECRET,
        f"{quote(text)} is a secret ({rule}) and is never shown, whether or not it exists",
        next_step="work without its content; the operator hands secrets to the app itself",
    )
