"""A backup as Astra wrote them before there were folders of backups: format 1, to be read still."""

import json
from dataclasses import asdict
from pathlib import Path

from astra.adapters.backups.reading import open_backup
from astra.adapters.backups.secrecy import NOT_ENCRYPTED


def write_old_backup(backups: Path, to: Path) -> Path:
    """Write the newest backup of a folder in the older format."""
    with open_backup(backups, NOT_ENCRYPTED.unlock) as backup:
        manifest = backup.manifest
        for entry in manifest.files:
            path = to / "data" / entry.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(backup.read(entry)))
    members = asdict(manifest)
    for entry in members["entries"]:
        del entry["pieces"]
    text = json.dumps({**members, "format": 1}, sort_keys=True, separators=(",", ":"))
    (to / "manifest.json").write_text(text)
    return to
