"""What a person reads when something is wrong, and what they hand on to somebody else."""

import json
import subprocess
import tarfile
from pathlib import Path

from driver import COMMAND, Astra


def test_the_log_says_at_the_start_what_the_agent_may_do_with_code_and_why(astra: Astra) -> None:
    astra.json("status")
    entries = astra.json("logs")["items"]
    (line,) = [entry["message"] for entry in entries if "code access" in entry["message"]]
    assert line.startswith("code access: read, because PERSONA_MODE_ENABLED is on by default and")
    assert "ASTRA_CODE_WRITE_ENABLED is off by default" in line
    assert all(entry["level"] and entry["logger"] and entry["pid"] for entry in entries)
    assert "INFO     code access: read" in astra.run("logs").stdout
    assert line in (astra.root / "logs" / "daemon.log").read_text()


def test_following_goes_on_with_what_is_logged(astra: Astra) -> None:
    (astra.root / "logs" / "app.log").write_bytes(b"one\n\x1b[31mtwo\n")
    with subprocess.Popen(
        astra.start(COMMAND, "logs", "app", "--follow"),
        env=astra.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as following:
        assert following.stdout is not None
        assert [following.stdout.readline() for _ in range(2)] == ["one\n", "\\x1b[31mtwo\n"]
        with (astra.root / "logs" / "app.log").open("ab") as log:
            log.write(b"three\n")
        assert following.stdout.readline() == "three\n"
        following.kill()


def test_levels_and_counts_choose_and_a_root_without_logs_is_told(
    astra: Astra, tmp_path: Path
) -> None:
    lines = [{"level": level, "message": level} for level in ("info", "error", "info")]
    log = astra.root / "logs" / "daemon.ndjson"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines) + "no object\n")
    chosen = astra.json("logs", "--level", "warning")["items"]
    assert [entry["message"] for entry in chosen] == ["error", "no object"]
    assert len(astra.json("logs", "--count", "2")["items"]) == 2
    refused = astra.json("logs", "--data-root", tmp_path / "nowhere", code=1)
    assert refused["code"] == "not_found"


def test_support_puts_together_what_helps_with_and_without_a_daemon(astra: Astra) -> None:
    astra.json("smoke")
    made = astra.json("support", "--output", astra.folder / "with.tar.gz")
    assert {"status.json", "smoke.json", "doctor.json", "records.ndjson"} <= set(made["items"])
    parts = read_archive(astra.folder / "with.tar.gz")
    assert json.loads(parts["status.json"])["version"]
    assert '"type": "smoke_finished"' in parts["records.ndjson"]
    assert (astra.folder / "with.tar.gz").stat().st_mode & 0o077 == 0
    astra.json("down")
    without = astra.json("support", "--output", astra.folder / "without.tar.gz")
    assert "doctor.json" in without["items"]
    assert "status.json" not in without["items"]
    refused = astra.json("support", "--output", astra.folder / "with.tar.gz", code=2)
    assert "is there already" in refused["detail"]


def read_archive(path: Path) -> dict[str, str]:
    with tarfile.open(path) as archive:
        return {
            member.name.removeprefix("astra-support/"): archive.extractfile(member).read().decode()  # type: ignore[union-attr]
            for member in archive.getmembers()
        }
