"""Without a sandbox, if the operator insists: setting and signature, and red in every status."""

import pytest

from driver import Astra
from forking import run_in_sandbox, sleepers, start_forking

pytestmark = pytest.mark.xdist_group("sandbox")


@pytest.fixture
def unsafe(astra: Astra) -> Astra:
    (astra.root / ".env").write_text("ASTRA_SANDBOX=off-unsafe\n")
    astra.json("sandbox", "off-unsafe")
    return astra


def test_commands_run_as_plain_processes_and_say_so(unsafe: Astra) -> None:
    done = run_in_sandbox(unsafe, "echo hi > note; cat note; id -u; hostname")
    said, uid, host = done["stdout"].splitlines()
    assert said == "hi"
    assert int(uid) != 0
    assert host != "sandbox"
    assert "UNSAFE" in done["can"]
    assert "domains cannot be enforced" in done["can"]
    (ended,) = unsafe.json("ledger", "tail", "--type", "box_ended")["items"]
    assert ended["data"]["confined"] is False


def test_every_status_shows_it(unsafe: Astra) -> None:
    assert unsafe.json("status")["sandbox"]["kind"] == "off-unsafe"
    assert "SANDBOX OFF, UNSAFE" in unsafe.run("status").stdout
    health = unsafe.json("tools", "call", "astra.health", "{}")
    assert health["sandbox"]["kind"] == "off-unsafe"
    checks = unsafe.json("doctor", code=1)["items"]
    assert [c["fix"] for c in checks if c["name"] == "sandbox" and c["state"] == "broken"] == [
        "astra sandbox on"
    ]
    assert "UNSAFE" in unsafe.run("sandbox").stdout


def test_turning_the_sandbox_on_again_is_free_and_bites_at_once(unsafe: Astra) -> None:
    state = unsafe.json("sandbox", "on", ASTRA_OPERATOR_PASSPHRASE="")
    assert state["kind"] == "bubblewrap"
    assert run_in_sandbox(unsafe, "hostname")["stdout"] == "sandbox\n"
    types = [r["type"] for r in unsafe.json("ledger", "tail", "--count", "1000")["items"]]
    assert [t for t in types if t.startswith("sandbox_")] == [
        "sandbox_off_allowed",
        "sandbox_off_revoked",
    ]


def test_stop_ends_plain_processes_too(unsafe: Astra) -> None:
    running = start_forking(unsafe)
    done = unsafe.json("stop", "--now")
    assert (done["ended"], done["survivors"], done["clean"]) == (1, [], True)
    running.join()
    assert sleepers() == []
