"""The one way Astra runs git: described as data, hardened, bounded.

Whatever a repository, a user or a machine configured, a command run from here reads no system or
user configuration, runs no hook, pager, editor, credential or signing program, honours no replace
ref, graft or attribute file of the user, speaks no network protocol and asks nobody for anything.
Text from an agent never stands where git expects an option: revisions are object ids or full ref
names, and paths follow `--`.

>>> GitCommand(repository=Path("/srv/git"), arguments=("ls-tree", "HEAD")).described()[-2:]
('ls-tree', 'HEAD')
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from astra.trusted.git.bounded_process import BoundedCommand, Finished, run_bounded
from astra.trusted.kernel.errors import AstraError, BadInput

_PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin"

HARDENED_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        "GIT_ADVICE": "0",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_ASKPASS": "/bin/false",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_EDITOR": "/bin/false",
        "GIT_GRAFT_FILE": "/dev/null",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "/bin/cat",
        "GIT_SSH_COMMAND": "/bin/false",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "PATH": _PROGRAM_PATH,
        "XDG_CONFIG_HOME": "/nonexistent",
    }
)
"""Wins over every file; what a repository's own configuration could set is overridden below."""

HARDENED_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    "--no-optional-locks",
    "--literal-pathspecs",
    *(
        option
        for setting in (
            "advice.graftFileDeprecated=false",
            "core.hooksPath=/dev/null",
            "core.attributesFile=/dev/null",
            "core.excludesFile=/dev/null",
            "core.filesRefLockTimeout=10000",
            "core.fsync=objects,reference",
            "core.fsmonitor=false",
            "core.sshCommand=/bin/false",
            "core.alternateRefsCommand=/bin/false",
            "core.quotePath=false",
            "core.useReplaceRefs=false",
            "credential.helper=",
            "gc.auto=0",
            "gpg.program=/bin/false",
            "maintenance.auto=false",
            "protocol.allow=never",
            "uploadpack.packObjectsHook=/bin/false",
        )
        for option in ("-c", setting)
    ),
)

COMPARING = frozenset({"diff", "diff-files", "diff-index", "diff-tree", "log", "show"})
RAW_COMPARISON = ("--no-ext-diff", "--no-textconv", "--text")
"""What a diff shows is the content itself: no program and no attribute may stand in for it."""

SETTABLE = frozenset(
    {
        "GIT_AUTHOR_DATE",
        "GIT_AUTHOR_EMAIL",
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_DATE",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_QUARANTINE_PATH",
    }
)
"""What a caller may add to the environment: identities, and a temporary index or object folder."""


class GitFailed(AstraError):
    code = "git_failed"


@dataclass(frozen=True, kw_only=True)
class GitCommand:
    """A git command as data; the subcommand comes first in `arguments`."""

    repository: Path
    arguments: tuple[str, ...]
    input: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout: float = 30.0
    output_limit: int = 64 * 1024 * 1024
    memory: int = 0

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.environment) - SETTABLE):
            raise BadInput(
                f"a git command may not set {', '.join(unknown)}",
                next_step=f"set only {', '.join(sorted(SETTABLE))}",
            )
        if any("\0" in argument for argument in self.arguments):
            raise BadInput("a git argument holds a NUL byte", next_step="remove it")

    def described(self) -> tuple[str, ...]:
        subcommand, *others = self.arguments
        raw = RAW_COMPARISON if subcommand in COMPARING else ()
        where = f"--git-dir={self.repository}"
        return ("git", *HARDENED_OPTIONS, where, subcommand, *raw, *others)

    def bounded(self) -> BoundedCommand:
        return BoundedCommand(
            arguments=self.described(),
            environment={**HARDENED_ENVIRONMENT, **self.environment},
            input=self.input,
            timeout=self.timeout,
            output_limit=self.output_limit,
            memory=self.memory,
        )


def run_git(command: GitCommand, *, accept: frozenset[int] = frozenset({0})) -> Finished:
    """Run the command; an exit code that is not accepted is an error that quotes git's words."""
    finished = run_bounded(command.bounded())
    if finished.exit_code not in accept:
        words = finished.complaint.decode(errors="replace").strip()
        raise GitFailed(
            f"git {command.arguments[0]} failed with code {finished.exit_code}: {words[:500]}",
            next_step="run `astra doctor`; it checks the trusted repository",
            exit_code=finished.exit_code,
        )
    return finished
