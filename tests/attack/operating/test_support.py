"""What is handed to somebody else holds no secret, wherever one was put."""

import gzip
import json
from pathlib import Path

from driver import PASSPHRASE, Astra

PLAIN = "tangerine-harbour-42"
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
QUOTED = 'with"quote\\and-umlaut-ü'


def read_everything(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode(errors="replace")


def test_secrets_of_the_environment_the_files_and_the_logs_are_in_no_part(astra: Astra) -> None:
    address = f"json://ada:{PLAIN}@127.0.0.1:9/hooks/T0123456789?token={PLAIN}"
    (astra.root / ".env").write_text(f"CHAT_URL={address}\nMODEL_KEY={TOKEN}\n")
    configuration = astra.root / "astra.toml"
    configuration.write_text(
        f'{configuration.read_text()}\n[app]\nenv = {{ ODD_NAME = "{PLAIN}-in-env" }}\n'
    )
    astra.extra["SOME_API_KEY"] = QUOTED
    astra.json("status")
    with (astra.root / "logs" / "daemon.log").open("a") as log:
        log.write(f"failed: {address} {PASSPHRASE}\nMODEL_KEY={TOKEN}\nplain {PLAIN}\n")
    with (astra.root / "logs" / "app.log").open("a") as log:
        log.write(json.dumps({"key": QUOTED}) + f"\n{QUOTED}\n")
    astra.json("desires", "record", f"learn what {PLAIN} means")
    astra.json("support", "--output", astra.folder / "bundle.tar.gz")
    text = read_everything(astra.folder / "bundle.tar.gz")
    for secret in (PLAIN, TOKEN, QUOTED, json.dumps(QUOTED)[1:-1], PASSPHRASE, "T0123456789"):
        assert secret not in text
    assert "[masked]" in text
    assert "desire_recorded" in text


def test_keys_and_what_links_lead_to_are_not_read(astra: Astra) -> None:
    astra.json("status")
    secret = astra.folder / "elsewhere"
    secret.write_text(f"somewhere else: {PLAIN}\n")
    (astra.root / "logs" / "holder.log").symlink_to(secret)
    key = (astra.root / "var" / "keys" / "ledger.key").read_text().strip()
    operator = next((astra.folder / "config" / "astra").glob("operator-*.key")).read_text()
    astra.json("support", "--output", astra.folder / "bundle.tar.gz")
    text = read_everything(astra.folder / "bundle.tar.gz")
    assert PLAIN not in text
    for line in (*key.splitlines(), *operator.splitlines()):
        assert len(line) < 16 or line not in text


def test_an_archive_is_not_written_through_a_link(astra: Astra) -> None:
    target = astra.folder / "precious"
    target.write_text("mine")
    (astra.folder / "bundle.tar.gz").symlink_to(target)
    assert astra.run("support", "--output", astra.folder / "bundle.tar.gz").returncode != 0
    assert target.read_text() == "mine"


def test_secrets_are_masked_before_they_reach_a_log_that_the_agent_can_read(astra: Astra) -> None:
    """The agent reads the server's logs; what the daemon complains about may hold anything."""
    astra.run("tools", "call", "read_source_code", json.dumps({"path": f"x MODEL_KEY={TOKEN}"}))
    astra.run("tools", "call", f"unknown {TOKEN}", "{}")
    logs = "".join(path.read_text() for path in (astra.root / "logs").glob("daemon*"))
    assert TOKEN not in logs
