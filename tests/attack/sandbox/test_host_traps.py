"""What a box leaves behind to catch the host later."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.kernel.errors import NotFound
from astra.trusted.policy.manifest import Manifest
from astra.trusted.sandbox import toolchain
from astra.trusted.sandbox.ports import Verdict
from astra.trusted.sandbox.results import UnsafeResult, read_result


def test_a_planted_pth_and_sitecustomize_run_only_inside_the_next_box(
    yard: Any, tmp_path: Path
) -> None:
    """Nothing that the host does with the folder starts what is in it."""
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w').close()"
    plant = (
        f'printf %s "{trap}" | tee sitecustomize.py conftest.py usercustomize.py > /dev/null;'
        f'echo "import os; {trap}" > trap.pth; mkdir -p .venv/bin; cp /bin/sh .venv/bin/python'
    )
    assert yard.sh(plant).succeeded
    assert yard.sh("true").succeeded
    assert read_result(yard.work, "conftest.py")
    tools = toolchain.find(Path(sys.executable))
    yard.run("python", "-m", "pytest", "-q", "--co", box={"toolchain": tools})
    assert not (tmp_path / "sprung").exists()


def test_a_git_repository_planted_with_hooks_and_filters_is_not_run_by_a_launch(
    yard: Any, tmp_path: Path
) -> None:
    sprung = tmp_path / "sprung"
    plant = f"""git init -q . && printf '#!/bin/sh\\ntouch {sprung}\\n' > .git/hooks/post-checkout
chmod +x .git/hooks/post-checkout
git config core.fsmonitor 'touch {sprung}'; git config filter.x.clean 'touch {sprung}'
echo '* filter=x' > .gitattributes; git config core.sshCommand 'touch {sprung}'"""
    assert yard.sh(plant).succeeded
    assert yard.sh("git status; true").succeeded
    assert not sprung.exists()


def test_hooks_cannot_be_planted_in_a_repository_that_was_there(yard: Any) -> None:
    (yard.work / ".git" / "hooks").mkdir(parents=True)
    (yard.work / ".git" / "config").write_text("[core]\n")
    tries = (
        "echo x > .git/hooks/post-commit",
        "git config core.hooksPath /tmp",
        "mv .git .git2",
        "rm -rf .git",
        "cd / && mv $OLDPWD $OLDPWD.away",
        "mkdir new && mount --bind new .git",
        "ln -sf /tmp .git/hooks",
    )
    for script in tries:
        assert yard.sh(script).verdict is Verdict.FAILED, script
    assert (yard.work / ".git" / "config").read_text() == "[core]\n"
    assert list((yard.work / ".git" / "hooks").iterdir()) == []


def test_a_git_link_that_leads_away_is_refused(yard: Any, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (yard.work / ".git").symlink_to(tmp_path / "elsewhere")
    outcome = yard.sh("true")
    assert outcome.verdict is Verdict.NEVER_RAN
    assert "symbolic link" in outcome.reason


def test_a_granted_folder_swapped_for_a_link_is_not_followed(yard: Any, tmp_path: Path) -> None:
    """A box that may write the parent swaps a later grant; the next launch refuses it."""
    secret = tmp_path / "private"
    secret.mkdir()
    (secret / "key").write_text("secret")
    assert yard.sh(f"mkdir inner; rmdir inner; ln -s {secret} inner").succeeded
    manifest = Manifest(read_paths=(str(yard.work / "inner"),))
    outcome = yard.sh(f"cat {yard.work}/inner/key", manifest=manifest)
    assert outcome.verdict is Verdict.NEVER_RAN


def test_a_link_swapped_while_launching_never_shows_another_folder(
    yard: Any, tmp_path: Path
) -> None:
    """One process swaps the granted name as fast as it can while boxes are launched."""
    secret = tmp_path / "private"
    secret.mkdir()
    (secret / "key").write_text("secret")
    swap = tmp_path / "swap"
    (swap / "real").mkdir(parents=True)
    program = (
        "import os, sys\n"
        "os.chdir(sys.argv[1])\n"
        "os.symlink(sys.argv[2], 'link')\n"
        "os.mkdir('granted')\n"
        "print(flush=True)\n"
        "while True:\n"
        "    os.rename('granted', 'kept'); os.rename('link', 'granted')\n"
        "    os.rename('granted', 'link'); os.rename('kept', 'granted')\n"
    )
    words = [sys.executable, "-c", program, str(swap), str(secret)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout
        swapper.stdout.readline()
        manifest = Manifest(read_paths=(str(swap / "granted"),))
        outcomes = [yard.sh(f"cat {swap}/granted/key", manifest=manifest) for _ in range(40)]
        swapper.kill()
    assert all(b"secret" not in outcome.stdout for outcome in outcomes)
    assert {outcome.verdict for outcome in outcomes} <= {Verdict.NEVER_RAN, Verdict.FAILED}


@pytest.mark.parametrize("trap", ["ln -s {secret} report", "mkfifo report", "ln {secret} report"])
def test_a_result_that_is_a_trap_is_not_read(yard: Any, tmp_path: Path, trap: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    yard.sh(trap.format(secret=secret))
    with pytest.raises((UnsafeResult, NotFound)):
        read_result(yard.work, "report")


def test_what_a_box_makes_is_never_root_or_set_id_on_the_host(yard: Any) -> None:
    yard.sh("cp /bin/sh shell; chmod 6755 shell; chmod 755 shell; mkdir -m 2775 d; true")
    for path in yard.work.rglob("*"):
        facts = path.lstat()
        assert facts.st_uid != 0
        if path.is_file():
            assert not facts.st_mode & 0o6000


def test_a_daemon_that_outlives_its_command_is_gone_when_the_outcome_is_told(yard: Any) -> None:
    script = (
        "mkfifo hold; for n in 1 2 3; do"
        " (setsid nohup sh -c 'exec 3<>hold; while :; do :; done' &); done; echo done"
    )
    assert yard.sh(script).succeeded
    with pytest.raises(OSError, match="No such device"):
        os.open(yard.work / "hold", os.O_WRONLY | os.O_NONBLOCK)


def test_terminal_codes_in_output_reach_the_reader_as_bytes_and_no_terminal(yard: Any) -> None:
    outcome = yard.sh("printf '\\033]0;owned\\007'; test -t 0 || test -t 1 || echo none")
    assert outcome.stdout.endswith(b"none\n")
