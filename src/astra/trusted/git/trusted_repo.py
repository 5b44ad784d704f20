"""The trusted repository `var/git`, that only Astra writes.

The target may be hostile: its configuration, hooks and filters never run. Git gets an empty
configuration, no prompts and no way to the network.
"""

import os
import shutil
import subprocess
from pathlib import Path

from astra.trusted.kernel.errors import AstraError, BadInput

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}
_TIMEOUT = 600


class GitFailed(AstraError):
    code = "git_failed"


def git(*arguments: str | Path, cwd: Path) -> str:
    """Run one git command with nothing of the repository's own configuration in play."""
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*", *arguments]
    environment = {
        **_ENVIRONMENT,
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
    }
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_TIMEOUT,
        check=False,
    )
    if done.returncode:
        raise GitFailed(
            f"git {arguments[0]} failed: {done.stderr.strip()[-500:]}",
            next_step="look at the repository, then try again",
        )
    return done.stdout.strip()


def current_branch(target: Path) -> str:
    """Name the branch a target is on; refuse what is not a repository with a commit."""
    if not target.is_dir():
        raise BadInput(
            f"{target} is not a folder", code="no_target", next_step="name the agent's repository"
        )
    try:
        git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", cwd=target)
        return git("symbolic-ref", "--short", "HEAD", cwd=target)
    except GitFailed:
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
        git("init", "--bare", "--quiet", f"--initial-branch={branch}", partial, cwd=git_dir.parent)
    else:
        options = ("--bare", "--no-local", "--single-branch", "--no-tags", "--quiet")
        git("clone", *options, "--branch", branch, "--", target, partial, cwd=git_dir.parent)
        git("remote", "remove", "origin", cwd=partial)
    partial.rename(git_dir)
    return True
