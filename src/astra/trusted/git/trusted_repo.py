"""The trusted repository `var/git`, that only Astra writes.

The target may be hostile, and may belong to another user of the machine: its configuration, hooks
and filters never run, on either end of the clone. Where this user may not read it, that is said.
"""

import os
import pwd
import shutil
from pathlib import Path

from astra.trusted.git.git_command import GitCommand, GitFailed, run_git, upload_pack_option
from astra.trusted.kernel.errors import BadInput, Refused

_SECONDS = 600.0
_NEXT_STEP = "look at the repository, then try again"
_DENIED = "Permission denied"


class UnreadableTarget(Refused):
    code = "unreadable_target"


def current_branch(target: Path) -> str:
    """Name the branch a target is on; refuse what is not a repository with a commit."""
    git_dir = _find_git_dir(target)
    try:
        _run_git(git_dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return _run_git(git_dir, "symbolic-ref", "--short", "HEAD")
    except GitFailed as error:
        if _DENIED in error.detail or not _may_read(git_dir):
            raise _unreadable_target_error(target) from None
        raise BadInput(
            f"{target} is not a git repository with a commit on a branch",
            code="no_target",
            next_step="run `git init`, commit once on a branch, then try again",
        ) from None


def make_trusted(git_dir: Path, target: Path | None, branch: str) -> bool:
    """Make the trusted repository; tell whether anything was done."""
    if git_dir.exists():
        return False
    partial = git_dir.with_name("git.partial")
    shutil.rmtree(partial, ignore_errors=True)
    if target is None:
        _run_git(
            None, "init", "--bare", "--quiet", f"--initial-branch={branch}", "--", str(partial)
        )
    else:
        _clone_target(target, branch, partial)
        _run_git(partial, "remote", "remove", "origin")
    partial.rename(git_dir)
    return True


def _clone_target(target: Path, branch: str, partial: Path) -> None:
    options = ("--bare", "--no-local", "--single-branch", "--no-tags", "--quiet")
    places = ("--", str(target), str(partial))
    try:
        _run_git(None, "clone", *options, upload_pack_option(), f"--branch={branch}", *places)
    except GitFailed as error:
        if _DENIED in error.detail:
            raise _unreadable_target_error(target) from None
        raise


def _find_git_dir(target: Path) -> Path:
    try:
        if not target.is_dir():
            raise BadInput(
                f"{target} is not a folder",
                code="no_target",
                next_step="name the agent's repository",
            )
        inner = target / ".git"
        return inner if inner.exists() else target
    except PermissionError:
        raise _unreadable_target_error(target) from None


def _may_read(git_dir: Path) -> bool:
    places = (git_dir, git_dir / "HEAD", git_dir / "objects")
    return all(os.access(place, os.R_OK) for place in places if os.path.lexists(place))


def _unreadable_target_error(target: Path) -> UnreadableTarget:
    user = _user_name(os.geteuid())
    return UnreadableTarget(
        f"user {user} may not read {target}{_describe_owner(target)}",
        next_step=f"as its owner, let {user} read it (`setfacl -R -m u:{user}:rX {target}`),"
        f" or clone it as {user} and name the clone",
    )


def _describe_owner(target: Path) -> str:
    try:
        return f", which belongs to user {_user_name(target.stat().st_uid)}"
    except OSError:
        return ""


def _user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _run_git(repository: Path | None, *arguments: str) -> str:
    command = GitCommand(
        repository=repository, arguments=arguments, protocol="file", timeout=_SECONDS
    )
    return run_git(command, next_step=_NEXT_STEP).output.decode(errors="replace").strip()
