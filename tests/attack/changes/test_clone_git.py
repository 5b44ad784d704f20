"""A box that writes the clone's git directory: what a person's git on the host then runs."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from astra.adapters.boxes.agent_boxes import AgentBoxes
from astra.adapters.boxes.clone_git import SEALED, grant_git_folder
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.trusted.sandbox.ports import BoxRequest, Outcome
from astra.trusted.settings import environment
from driver import Astra, make_repository

HOST_COMMANDS = (
    ("status",),
    ("log", "--oneline"),
    ("diff", "HEAD"),
    ("add", "-A"),
    ("commit", "--allow-empty", "-qm", "by a person"),
    ("checkout", "-q", "-b", "persons"),
    ("branch", "-a"),
    ("gc", "-q"),
    ("worktree", "list"),
    ("submodule", "status"),
    ("stash",),
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("clone-git")
    astra = Astra(folder)
    astra.json("init", make_repository(folder / "target"), "--throwaway")
    runtime = build_runtime(environment.load(astra.environment))
    yield runtime
    runtime.close()


@pytest.fixture
def opened(built: Runtime) -> Iterator[Runtime]:
    """Give a clone as it was made: an agent may ruin its own."""
    clone = built.settings.code_repo
    pristine = clone.with_name("pristine")
    if not pristine.exists():
        subprocess.run(["cp", "-a", clone, pristine], check=True)
    yield built
    subprocess.run(["rm", "-rf", clone], check=True)
    subprocess.run(["cp", "-a", pristine, clone], check=True)


def clone_of(runtime: Runtime) -> Path:
    return runtime.settings.code_repo


def run(runtime: Runtime, script: str, *, may_write: bool = True) -> Outcome:
    """Run a script in the agent's own box, in its clone."""
    boxes = AgentBoxes(
        sandbox=runtime.sandbox,
        folder=runtime.settings.sandbox_folder,
        code_repo=clone_of(runtime),
        persona=runtime.root.path / "persona_space",
        may_write_code=lambda: may_write,
    )
    command = ("/bin/sh", "-c", f"cd {clone_of(runtime)} && {script}")
    return boxes.run(BoxRequest(command=command, actor="agent:t", correlation="cor_00000000"))


def test_branch_and_commit_work_in_the_agents_box(opened: Runtime) -> None:
    outcome = run(
        opened,
        "git checkout -q -b fix && echo x > new.txt && git add -A && git commit -qm fix"
        " && git log --oneline && git checkout -q trunk && git merge -q fix && git status -s"
        " && git branch -a && git gc -q && git stash list && git tag v1",
    )
    assert outcome.succeeded, outcome.stderr
    assert b"fix" in outcome.stdout


@pytest.mark.parametrize("name", [".git", *(f".git/{name}" for name in SEALED)])
def test_what_settings_come_from_cannot_be_written_replaced_renamed_or_removed(
    opened: Runtime, name: str
) -> None:
    run(opened, "true")
    before = snapshot(clone_of(opened))
    for script in (
        f"mv {name} /tmp/away",
        f"mv {name} elsewhere",
        f"rm -rf {name}",
        f"mkdir /tmp/x && mv -T /tmp/x {name}",
        f"ln -sfn /tmp {name}",
        f"cp /etc/passwd {name} && test -f {name}/passwd -o -f {name}",
        f"chmod 777 {name} && test -d {name} && touch {name}/planted",
        f"mv -T --exchange sub {name}",
    ):
        run(opened, script if name != ".git" else script.replace("rm -rf .git", "rmdir .git"))
        assert snapshot(clone_of(opened)) == before, script


def snapshot(clone: Path) -> dict[str, bytes | tuple[str, ...]]:
    state: dict[str, bytes | tuple[str, ...]] = {"identity": (str((clone / ".git").stat().st_ino),)}
    for name in SEALED:
        place = clone / ".git" / name
        assert not place.is_symlink()
        state[name] = (
            tuple(sorted(path.name for path in place.iterdir()))
            if place.is_dir()
            else place.read_bytes()
        )
    return state


EVIL = "#!/bin/sh\\ntouch {mark}\\n"
ATTACKS = {
    "settings": "git config core.fsmonitor {evil}; git config --worktree core.fsmonitor {evil}",
    "settings by hand": "printf '[core]\\n\\tfsmonitor = {evil}\\n' >> .git/config",
    "settings of a work tree": "printf '[core]\\n\\tfsmonitor = {evil}\\n' > .git/config.worktree",
    "hook": "for h in post-checkout pre-commit post-index-change; do cp {evil} .git/hooks/$h; done",
    "hooks folder": "mv .git/hooks .git/old; mkdir .git/hooks; cp {evil} .git/hooks/pre-commit",
    "common folder": "mkdir -p e/objects e/refs e/hooks; cp {evil} e/hooks/pre-commit;"
    " printf '[core]\\n\\tfsmonitor = {evil}\\n' > e/config; echo ../e > .git/commondir",
    "common folder moved in": "mkdir e; echo ../e > c; mv -f c .git/commondir",
    "another .git": "mv .git .was; mkdir .git; cp -r .was/. .git;"
    " printf '[core]\\n\\tfsmonitor = {evil}\\n' > .git/config",
    "git file": "mv .git .was; echo 'gitdir: .was' > .git",
    "work tree": "mkdir -p .git/worktrees/w; printf '[core]\\n\\tfsmonitor = {evil}\\n'"
    " > .git/worktrees/w/config.worktree",
    "attributes": "echo '* filter=e diff=e merge=e' > .git/info/attributes",
    "half a rebase": "mkdir -p .git/rebase-merge;"
    " echo 'exec {evil}' > .git/rebase-merge/git-rebase-todo",
}


@pytest.mark.parametrize("attack", sorted(ATTACKS))
def test_a_persons_git_runs_nothing_that_a_box_planted(
    opened: Runtime, attack: str, tmp_path: Path
) -> None:
    clone, mark = clone_of(opened), tmp_path / "ran"
    evil = clone / "evil.sh"
    run(opened, f"printf '{EVIL.format(mark=mark)}' > {evil} && chmod 755 {evil}")
    outcome = run(opened, ATTACKS[attack].format(evil=evil))
    assert outcome.seconds >= 0
    use_git_as_person(clone)
    assert not mark.exists(), attack


@pytest.mark.parametrize("attack", ["settings by hand", "hook", "hooks folder", "common folder"])
def test_the_same_attacks_would_work_without_the_seal(
    opened: Runtime, attack: str, tmp_path: Path
) -> None:
    clone, mark = clone_of(opened), tmp_path / "ran"
    evil = clone / "evil.sh"
    evil.write_text(EVIL.format(mark=mark).replace("\\n", "\n"))
    evil.chmod(0o755)
    script = ATTACKS[attack].format(evil=evil)
    subprocess.run(["/bin/sh", "-c", script], cwd=clone, check=False, capture_output=True)
    use_git_as_person(clone)
    assert mark.exists(), attack


def use_git_as_person(clone: Path) -> None:
    for words in HOST_COMMANDS:
        run_git_as_person(clone, *words)


def run_git_as_person(clone: Path, *words: str) -> None:
    """Run git as somebody who owns the clone, or trusts it, and knows of no danger."""
    identity = ["-c", "safe.directory=*", "-c", "user.name=P", "-c", "user.email=p@localhost"]
    subprocess.run(
        ["git", *identity, *words],
        cwd=clone,
        check=False,
        capture_output=True,
        env={"PATH": os.environ["PATH"], "HOME": str(clone.parent)},
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    "script",
    [
        "echo ../elsewhere > .git/commondir",
        "rm .git/commondir; ln -s /etc/hostname .git/commondir",
        "rm .git/commondir; mkfifo .git/commondir",
        "rm -r .git/hooks; ln -s /tmp .git/hooks",
        "rm .git/config; mkdir .git/config",
        "echo '[core]' > .git/config.worktree",
        "mv .git real; ln -s real .git",
    ],
)
def test_a_git_directory_that_cannot_be_sealed_stays_read_only(tmp_path: Path, script: str) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert grant_git_folder(tmp_path).write_paths
    subprocess.run(["/bin/sh", "-ec", script], cwd=tmp_path, check=True)
    assert grant_git_folder(tmp_path).write_paths == ()


def test_with_code_writing_off_the_git_directory_is_read_only(opened: Runtime) -> None:
    outcome = run(opened, "git commit --allow-empty -qm x", may_write=False)
    assert not outcome.succeeded
    assert b"Read-only file system" in outcome.stderr
