"""Agent code runs confined, and an operator's stop ends all of it, whatever the daemon does."""

import json
import os
import signal
import subprocess
import venv
from pathlib import Path

import pytest

from driver import COMMAND, Astra
from forking import run_in_sandbox, sleepers, start_forking
from warm_start import cold

WRITE = "ASTRA_CODE_WRITE_ENABLED"
pytestmark = pytest.mark.xdist_group("sandbox")


def test_the_agent_works_in_its_sandbox_folder_and_sees_nothing_else(astra: Astra) -> None:
    script = "echo hi > note; cat ../code-repo/agent.py; ls ../var ../astra.toml"
    assert "can" not in run_in_sandbox(astra, "true"), "only said when somebody asks"
    done = run_in_sandbox(astra, script, explain=True)
    assert "return 42" in done["stdout"]
    assert "No such file" in done["stderr"]
    assert (astra.root / "sandbox" / "note").read_text() == "hi\n"
    assert "nothing else" in done["can"]


def test_the_agent_starts_the_targets_own_interpreter_and_the_home_folder_stays_closed(
    astra: Astra,
) -> None:
    home = astra.folder / "home"
    python = home / "project" / ".venv" / "bin" / "python"
    venv.create(python.parents[1], with_pip=False, symlinks=True)
    (home / "diary").write_text("private")
    ask = f"python -c 'import sys; print(sys.prefix)'; ls {home}"
    assert str(home) not in run_in_sandbox(astra, ask)["stdout"]
    sign(astra, test_command=f"{python} -m pytest -q --disable-plugin-autoload")
    done = run_in_sandbox(astra, ask, explain=True)
    assert done["stdout"].splitlines() == [str(python.parents[1]), "project"]
    assert f"can start: {python}" in done["can"]
    sign(astra, toolchain=[str(python)])
    assert run_in_sandbox(astra, ask)["stdout"].splitlines()[0] == str(python.parents[1])


def test_a_declared_interpreter_that_is_gone_is_named(astra: Astra) -> None:
    sign(astra, toolchain=["/opt/none/bin/node"])
    refused = run_in_sandbox(astra, "true", code=2)
    assert "/opt/none/bin/node" in json.dumps(refused)


def sign(astra: Astra, **target: object) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in target.items()]
    (astra.root / "astra.toml").write_text("\n".join(["[target]", *lines]))
    astra.json("config", "sign")


def test_the_code_repo_is_writable_only_while_code_writing_is_on(astra: Astra) -> None:
    script = "echo x > ../code-repo/new.txt"
    assert run_in_sandbox(astra, script)["verdict"] == "failed"
    astra.json("flags", "set", WRITE, "on")
    assert run_in_sandbox(astra, script)["verdict"] == "succeeded"
    astra.json("flags", "set", WRITE, "off")
    assert run_in_sandbox(astra, script)["verdict"] == "failed"
    assert (astra.root / "code-repo" / "new.txt").read_text() == "x\n"


def test_endings_are_told_apart(astra: Astra) -> None:
    assert run_in_sandbox(astra, "exit 3")["exit_code"] == 3
    assert run_in_sandbox(astra, "sleep 60", seconds=0.5)["verdict"] == "timed_out"
    never = astra.json("tools", "call", "run_in_sandbox", json.dumps({"command": ["/no/such"]}))
    assert never["verdict"] == "never_ran"


def test_each_box_is_in_the_story_of_its_call(astra: Astra) -> None:
    run_in_sandbox(astra, "true")
    (ended,) = astra.json("ledger", "tail", "--type", "box_ended")["items"]
    story = astra.json("ledger", "story", ended["correlation"])["items"]
    assert [record["type"] for record in story][-2:] == ["box_ended", "tool_finished"]


def test_fetching_waits_for_a_person(astra: Astra) -> None:
    call = ["tools", "call", "fetch_url", '{"url": "https://example.com/x"}']
    waiting = astra.json(*call, code=3)
    assert waiting["code"] == "needs_approval"
    (listed,) = astra.json("approvals")["items"]
    assert listed["id"] == waiting["approval_id"]
    shown = astra.run("approve", listed["id"]).stderr
    assert "https://example.com/x" in shown
    assert "anyone at example.com" in shown
    refused = astra.json("tools", "call", "fetch_url", '{"url": "http://127.0.0.1/"}', code=2)
    assert refused["code"] == "bad_url"


def test_stop_ends_everything_and_proves_it(astra: Astra) -> None:
    running = start_forking(astra)
    done = astra.json("stop", "--now")
    assert (done["ended"], done["survivors"], done["clean"]) == (1, [], True)
    assert done["recorded"] is True
    running.join()
    assert sleepers() == []
    refused = run_in_sandbox(astra, "true", code=1)
    assert refused["code"] == "stopped"
    assert astra.json("status")["stopped"] is True


def test_stop_works_while_the_daemon_hangs_and_is_recorded_later(astra: Astra) -> None:
    running = start_forking(astra)
    pid = astra.daemon_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        done = astra.json("stop", "--now")
        assert (done["ended"], done["clean"], done["recorded"]) == (1, True, False)
        assert sleepers() == []
    finally:
        os.kill(pid, signal.SIGCONT)
    running.join()
    astra.run("down")
    astra.json("status")
    (record,) = astra.json("ledger", "tail", "--type", "work_stopped")["items"]
    assert record["data"]["report"]["ended"] == 1


def test_stop_needs_no_daemon_at_all(astra: Astra) -> None:
    astra.run("down")
    assert astra.json("stop", "--now")["clean"] is True
    assert not (astra.root / "var" / "run" / "astra.sock").exists()
    assert astra.json("status")["stopped"] is True


def test_only_the_operators_signature_starts_work_again(astra: Astra) -> None:
    astra.json("stop", "--now")
    refused = astra.json("start", code=1, ASTRA_OPERATOR_PASSPHRASE="a guess")
    assert refused["code"] == "wrong_passphrase"
    assert astra.json("status")["stopped"] is True
    assert astra.json("start")["started"] is True
    assert run_in_sandbox(astra, "true")["verdict"] == "succeeded"
    assert astra.json("start")["started"] is False


def test_removing_the_stop_file_does_not_start_work_again(astra: Astra) -> None:
    astra.json("stop", "--now")
    (astra.root / "var" / "stop").unlink()
    assert run_in_sandbox(astra, "true", code=1)["code"] == "stopped"
    assert astra.json("start")["started"] is True
    assert run_in_sandbox(astra, "true")["verdict"] == "succeeded"


def test_a_restart_does_not_undo_a_stop(astra: Astra) -> None:
    astra.json("stop", "--now")
    astra.run("down")
    assert run_in_sandbox(astra, "true", code=1)["code"] == "stopped"
    assert len(astra.json("ledger", "tail", "--type", "work_stopped")["items"]) == 1


def test_stop_asks_for_now(astra: Astra) -> None:
    assert astra.json("stop", code=2)["code"] == "bad_input"
    assert astra.json("status")["stopped"] is False


@pytest.mark.serial
def test_the_attack_table_is_a_command_and_nothing_gets_out(empty: Astra) -> None:
    table = empty.json("doctor", "--attack")
    assert table["ok"] is True
    assert len(table["items"]) >= 80
    assert all(item["held"] for item in table["items"])


def test_a_machine_without_bubblewrap_refuses_and_says_what_to_install(astra: Astra) -> None:
    """The launcher looks for bwrap in the system's folders; a view without it stands for none."""
    hide = (
        "mount -t tmpfs none /mnt && touch /mnt/empty && mount --bind /mnt/empty /usr/bin/bwrap"
        ' && chmod 000 /usr/bin/bwrap; exec "$@"'
    )
    command = cold(COMMAND)
    words = ["tools", "call", "run_in_sandbox", '{"command": ["true"]}', "--json"]
    astra.run("down")
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", hide, "sh"]
    done = subprocess.run(
        [*inside, *command, *words],
        env=astra.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    astra.run("down")
    assert done.returncode == 1, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["code"] == "sandbox_unavailable", answer
    assert answer["next_step"]
    assert Path("/usr/bin/bwrap").stat().st_size > 0


def test_a_root_that_cannot_become_another_user_is_told_so(empty: Astra, target: Path) -> None:
    """A container of one uid: its root has nobody to drop to, so no box starts in it."""
    inside = ["unshare", "--user", "--map-root-user", "--mount"]
    command = [*inside, *cold(COMMAND)]
    words = ["tools", "call", "run_in_sandbox", '{"command": ["true"]}', "--json"]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *words], env=empty.environment, capture_output=True, text=True, check=False
        )

    made = run("init", str(target), "--throwaway")
    assert made.returncode == 0, made.stderr
    answer = json.loads(run(*words).stdout)
    run("down")
    assert answer["code"] == "sandbox_unavailable", answer
    assert "cannot become uid" in answer["detail"]
    assert "ordinary user" in answer["next_step"]
