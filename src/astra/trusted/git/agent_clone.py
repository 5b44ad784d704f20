"""The agent's clone of the trusted repository, made without the content of secret files.

Commits keep their ids, so that work done in the clone can be imported: trees still name the secret
files, their blobs do not exist there. Git calls that a partial clone; the remote that would have
the rest is named and leads nowhere. The files are outside a sparse checkout, so that `git status`,
`git add -A` and `git commit` take them for what they are: there, and not looked at.

A blob that stands under an ordinary path too is no secret, and stays.
"""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from astra.trusted.git.git_command import GitCommand, run_git
from astra.trusted.policy.secrets import SecretRules

REMOTE = "withheld"
ADDRESS = "/secret-files-are-not-in-this-clone"
SETTINGS = (
    ("core.repositoryFormatVersion", "1"),
    ("extensions.partialClone", REMOTE),
    (f"remote.{REMOTE}.url", ADDRESS),
    (f"remote.{REMOTE}.promisor", "true"),
    ("core.sparseCheckout", "true"),
    ("core.sparseCheckoutCone", "false"),
)
_TIMEOUT = 600.0
_OUTPUT = 1 << 30
_AT_ONCE = 500
_BLOBS = (b"100", b"120")


@dataclass(frozen=True, kw_only=True)
class Withheld:
    """Secret files of any commit of a repository, and the blobs that only they have."""

    paths: tuple[bytes, ...] = ()
    blobs: frozenset[str] = frozenset()

    def sparse_patterns(self) -> bytes:
        """Write what `info/sparse-checkout` holds: everything but these files."""
        return b"".join((b"/*\n", *(b"!/" + _escape_path(path) + b"\n" for path in self.paths)))


def find_withheld(repository: Path, rules: SecretRules) -> Withheld:
    """Look through the whole history of a repository for what its agent may not have."""
    listing = _read_git_output(repository, "rev-list", "--objects", "--all")
    named_objects = (line.partition(b" ") for line in listing.splitlines())
    candidates = {
        oid.decode() for oid, _space, path in named_objects if path and _is_secret(rules, path)
    }
    places = set(_find_paths(repository, sorted(candidates)))
    public = {oid for oid, path in places if not _is_secret(rules, path)}
    return Withheld(
        paths=tuple(sorted({path for _oid, path in places if _is_secret(rules, path)})),
        blobs=frozenset({oid for oid, _path in places} & candidates - public),
    )


def find_new_withheld(repository: Path, rules: SecretRules, *, new: str, old: str) -> Withheld:
    """Look through what one commit has and another has not; nothing where that holds no secret."""
    behind = (f"^{old}",) if old else ()
    listing = _read_git_output(repository, "rev-list", "--objects", new, *behind)
    paths = (line.partition(b" ")[2] for line in listing.splitlines())
    if any(path and _is_secret(rules, path) for path in paths):
        return find_withheld(repository, rules)
    return Withheld()


def make_clone(git_dir: Path, clone: Path, *, name: str, email: str, rules: SecretRules) -> bool:
    """Make the agent's clone of the trusted repository; tell whether anything was done."""
    if clone.exists():
        return False
    partial = clone.with_name(f".{clone.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    withheld = find_withheld(git_dir, rules)
    if withheld.paths:
        _make_partial(git_dir, partial, withheld)
    else:
        _run_git(None, "clone", "--no-hardlinks", "--quiet", "--", str(git_dir), str(partial))
        _run_git(partial / ".git", "remote", "remove", "origin")  # boxes never see the trusted one
    _run_git(partial / ".git", "config", "user.name", name)
    _run_git(partial / ".git", "config", "user.email", email)
    partial.rename(clone)
    return True


def _make_partial(git_dir: Path, clone: Path, withheld: Withheld) -> None:
    head = _run_git(git_dir, "symbolic-ref", "HEAD")
    branch = head.removeprefix("refs/heads/")
    _run_git(None, "init", "--quiet", f"--initial-branch={branch}", "--", str(clone))
    inner = clone / ".git"
    pack = write_pack(git_dir, inner / "objects" / "pack", head, withheld.blobs)
    pack.with_suffix(".promisor").touch()
    for key, value in SETTINGS:
        _run_git(inner, "config", key, value)
    (inner / "info" / "sparse-checkout").write_bytes(withheld.sparse_patterns())
    _run_git(inner, "update-ref", head, _run_git(git_dir, "rev-parse", head))
    _run_git(inner, "read-tree", "-m", "-u", "HEAD", work_tree=clone)


def write_pack(
    git_dir: Path, folder: Path, head: str, withheld: frozenset[str], *, behind: str = ""
) -> Path:
    """Write one pack of what a commit has and another has not, but what is withheld."""
    range_words = (head, f"^{behind}") if behind else (head,)
    listing = _read_git_output(
        git_dir, "rev-list", "--objects", "--no-object-names", *range_words
    ).decode()
    oid_lines = "".join(f"{oid}\n" for oid in listing.split() if oid not in withheld)
    name = _read_git_output(
        git_dir, "pack-objects", "-q", f"{folder}/pack", input=oid_lines.encode()
    )
    return folder / f"pack-{name.decode().strip()}.pack"


def _find_paths(repository: Path, oids: list[str]) -> Iterator[tuple[str, bytes]]:
    """Give every path under which these blobs ever stood."""
    log_options = (
        "log",
        "--all",
        "--raw",
        "--no-renames",
        "--no-abbrev",
        "-r",
        "-m",
        "--root",
        "-z",
    )
    for start in range(0, len(oids), _AT_ONCE):
        object_options = [f"--find-object={oid}" for oid in oids[start : start + _AT_ONCE]]
        raw = _read_git_output(repository, *log_options, "--format=", *object_options).split(b"\0")
        for facts, path in zip(raw[::2], raw[1::2], strict=False):
            old_mode, new_mode, old, new, _status = facts.lstrip(b":").split()
            sides = ((old_mode, old), (new_mode, new))
            yield from ((oid.decode(), path) for mode, oid in sides if mode.startswith(_BLOBS))


def _is_secret(rules: SecretRules, path: bytes) -> bool:
    return rules.rule_for(path.decode(errors="surrogateescape")) is not None


def _escape_path(path: bytes) -> bytes:
    """Spell a path as a pattern that means it alone; a line break can only be a wildcard."""
    escaped = b"".join(b"\\" + char if char in b"\\*?[ " else char for char in _split_bytes(path))
    return escaped.replace(b"\n", b"?")


def _split_bytes(path: bytes) -> Iterable[bytes]:
    return (path[index : index + 1] for index in range(len(path)))


def _run_git(repository: Path | None, *arguments: str, work_tree: Path | None = None) -> str:
    command = GitCommand(
        repository=repository,
        arguments=arguments,
        work_tree=work_tree,
        protocol="file",
        timeout=_TIMEOUT,
    )
    return run_git(command).output.decode(errors="replace").strip()


def _read_git_output(repository: Path, *arguments: str, input: bytes = b"") -> bytes:  # noqa: A002 - as GitCommand names it
    return run_git(
        GitCommand(
            repository=repository,
            arguments=arguments,
            input=input,
            timeout=_TIMEOUT,
            output_limit=_OUTPUT,
        )
    ).output
