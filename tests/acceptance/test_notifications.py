"""An operator who is elsewhere hears that something waits, through a channel they named."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driver import Astra
from web_hook import Hook, listening

SECRET = "hunter2hunter2"


@pytest.fixture
def hook() -> Iterator[Hook]:
    with listening() as server:
        yield server


def sign(astra: Astra, section: str) -> Any:
    path = astra.root / "astra.toml"
    path.write_text(f"{path.read_text()}\n[notify]\n{section}\n")
    return astra.run("config", "sign", "--json")


def test_a_tier_2_firing_without_a_token_is_told_to_the_operator(astra: Astra, hook: Hook) -> None:
    address = f"json://someone:{SECRET}@127.0.0.1:{hook.server_port}/hook"
    (astra.root / ".env").write_text(f"CHAT_URL={address}\n")
    assert sign(astra, 'channels = ["CHAT_URL", "GONE_URL"]').returncode == 0
    words = ["--name", "letter", "--cron", "@yearly", "--tool", "astra.health", "--tier", "2"]
    made = astra.json("schedules", "create", *words)
    waiting = astra.json("schedules", "run", made["id"], code=3)["approval_id"]
    astra.follow("notification_sent")
    (text,) = hook.heard
    assert text.splitlines() == [
        "Astra: a request waits for your decision",
        f"http://localhost:8700/approvals/{waiting}",
        waiting,
    ]
    status = astra.json("status")
    assert status["notify"] == {"channels": ["CHAT_URL"], "missing": ["GONE_URL"], "devices": 0}
    assert "GONE_URL: there is no such line in .env" in astra.run("status").stdout
    astra.run("down")
    assert everything(astra.root / "var").count(SECRET.encode()) == 0
    assert SECRET not in json.dumps(status)


def test_an_address_in_the_signed_file_is_refused(astra: Astra) -> None:
    """What is signed is kept in the ledger for ever."""
    refused = sign(astra, f'channels = ["json://someone:{SECRET}@example.org"]')
    assert refused.returncode == 2
    assert json.loads(refused.stdout)["key"] == "notify.channels"
    assert SECRET not in refused.stdout + refused.stderr


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_channels_can_be_tried_before_it_matters(astra: Astra, hook: Hook) -> None:
    place = f"json://someone:{SECRET}@127.0.0.1:{hook.server_port}"
    (astra.root / ".env").write_text(f"CHAT_URL={place}/hook\nDEAD_URL={place}/dead\n")
    assert astra.json("notify", "test", code=1)["code"] == "no_channel"
    assert sign(astra, 'channels = ["CHAT_URL", "DEAD_URL"]').returncode == 0
    tried = astra.json("notify", "test", code=1)
    assert [(item["channel"], item["ok"]) for item in tried["items"]] == [
        ("CHAT_URL", True),
        ("DEAD_URL", False),
    ]
    assert hook.heard[0].startswith("Astra: a test, nothing waits for you\n")
    assert astra.json("notify", "test", "--channel", "CHAT_URL")["ok"] is True
    printed = astra.run("notify", "test")
    assert "FAILED DEAD_URL" in printed.stdout
    assert SECRET not in printed.stdout + json.dumps(tried)
