"""The one way Astra runs git: described as data, hardened, bounded.

Whatever a repository, a user or a machine configured, a command run from here reads no system or
user configuration, runs no hook, pager, editor, credential or signing program, honours no replace
ref, graft or attribute file of the user, and asks nobody for anything. It speaks no transport
protocol but the one that the command names. Nothing else in Astra starts git on the host (a test
reads the source); in a box, where the agent's clone is, the box is what bounds it.
Text from an agent never stands where git expects an option: revisions are object ids or full ref
names, and paths follow `--`.

>>> GitCommand(repository=Path("/srv/git"), arguments=("ls-tree", "HEAD")).build_arguments()[-2:]
('ls-tree', 'HEAD')
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from astra.trusted.git.bounded_process import BoundedCommand, Finished, run_bounded
from astra.trusted.kernel.errors import AstraError, BadInput

PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin"

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
        "PATH": PROGRAM_PATH,
        "XDG_CONFIG_HOME": "/nonexistent",
    }
)
"""Wins over every file; what a repository's own configuration could set is overridden below."""

_PACK_HOOK = "uploadpack.packObjectsHook=/bin/false"
_SETTINGS = (
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
)
_SWITCHES = ("--no-pager", "--no-replace-objects", "--no-optional-locks", "--literal-pathspecs")


def _build_options(*settings: str) -> tuple[str, ...]:
    return (*_SWITCHES, *(word for setting in settings for word in ("-c", setting)))


HARDENED_OPTIONS = _build_options(*_SETTINGS, _PACK_HOOK)

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
        "GIT_SSL_CAINFO",
    }
)
"""What a caller may add to the environment: identities, a temporary index or object folder, and
the certificate authority that a server over HTTPS is held against."""

PROTOCOLS = frozenset({"", "file", "http", "https", "ssh"})
"""Plain http is for the loopback interface only: whoever reads an address sees to that."""

NOT_ADMITTED = re.compile(
    r"Host key verification failed|REMOTE HOST IDENTIFICATION|Permission denied"
    r"|Authentication failed|could not read (?:Username|Password)|error: 40[13]"
)
"""What git says where a key or a token is not accepted, or a host is not known."""


class GitFailed(AstraError):
    code = "git_failed"


@dataclass(frozen=True, kw_only=True)
class GitCommand:
    """A git command as data; the subcommand comes first in `arguments`.

    Without a `repository` it makes one (`init`, `clone`). A `work_tree` is only for commands that
    need files; they see its attributes, so it must be the caller's own. `protocol` opens one
    transport, over ssh with no other key than `ssh_key`, to hosts that the user's own list or the
    file `known_hosts` beside that key names. Over HTTP, `authorization` is sent to the one host
    that is named: it is in no argument list, and no redirect is followed with it.
    """

    repository: Path | None
    arguments: tuple[str, ...]
    work_tree: Path | None = None
    protocol: str = ""
    ssh_key: Path | None = None
    authorization: str = field(default="", repr=False)
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
        if self.protocol not in PROTOCOLS:
            raise BadInput(
                f"a git command may not speak {self.protocol!a}",
                next_step="use file, https or ssh, or http on loopback",
            )

    def build_arguments(self) -> tuple[str, ...]:
        subcommand, *arguments = self.arguments
        raw = RAW_COMPARISON if subcommand in COMPARING else ()
        return (
            "git",
            *HARDENED_OPTIONS,
            *self._build_location_options(),
            subcommand,
            *raw,
            *arguments,
        )

    def to_bounded(self) -> BoundedCommand:
        return BoundedCommand(
            arguments=self.build_arguments(),
            environment={
                **HARDENED_ENVIRONMENT,
                **self.environment,
                **self._build_transport_environment(),
            },
            input=self.input,
            timeout=self.timeout,
            output_limit=self.output_limit,
            memory=self.memory,
        )

    def _build_location_options(self) -> tuple[str, ...]:
        places = {"--git-dir": self.repository, "--work-tree": self.work_tree}
        protocol_options = ("-c", f"protocol.{self.protocol}.allow=always") if self.protocol else ()
        if self.authorization:
            protocol_options = (*protocol_options, "-c", "http.followRedirects=false")
        return (*protocol_options, *(f"{option}={path}" for option, path in places.items() if path))

    def _build_transport_environment(self) -> dict[str, str]:
        if not self.protocol:
            return {}
        variables = {"GIT_ALLOW_PROTOCOL": self.protocol}
        if self.ssh_key:  # the variable wins over the option that closes ssh
            variables["GIT_SSH_COMMAND"] = _build_ssh_command(self.ssh_key)
        if self.authorization:
            variables |= {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "http.extraHeader",
                "GIT_CONFIG_VALUE_0": f"Authorization: {self.authorization}",
            }
        return variables


def _build_ssh_command(key: Path) -> str:
    known_hosts = key.with_name("known_hosts")
    files = f'"{known_hosts}" ~/.ssh/known_hosts' if known_hosts.is_file() else ""
    return shlex.join(
        (
            *("ssh", "-F", "none", "-i", str(key), "-o", "IdentitiesOnly=yes"),
            *("-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"),
            *(("-o", f"UserKnownHostsFile={files}") if files else ()),
        )
    )


def upload_pack_option() -> str:
    """Give the option of `clone` that hardens the other end, too, on the same machine.

    Git clears the configuration of the command line for that process, and refuses there to read a
    repository of another user. Whose it is does not matter here: nothing it configures is run.
    The one hook of this process is read from the command line only, so naming none closes it.
    """
    upload_command = ("git", *_build_options(*_SETTINGS, "safe.directory=*"), "upload-pack")
    return f"--upload-pack={shlex.join(upload_command)}"


def receive_pack_option() -> str:
    """Give the option of `push` that hardens the other end, too: a folder's hooks do not run."""
    settings = (*_SETTINGS, "receive.autogc=false", "safe.directory=*")
    return f"--receive-pack={shlex.join(('git', *_build_options(*settings), 'receive-pack'))}"


def run_git(
    command: GitCommand, *, accept: frozenset[int] = frozenset({0}), next_step: str = ""
) -> Finished:
    """Run the command; an exit code that is not accepted is an error that quotes git's words."""
    finished = run_bounded(command.to_bounded())
    if finished.exit_code not in accept:
        complaint = finished.complaint.decode(errors="replace").strip()
        raise GitFailed(
            f"git {command.arguments[0]} failed with code {finished.exit_code}: {complaint[:500]}",
            next_step=next_step or "run `astra doctor`; it checks the trusted repository",
            exit_code=finished.exit_code,
        )
    return finished
