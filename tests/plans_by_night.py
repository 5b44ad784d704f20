"""Plans in the real daemon, with a model on loopback that says what a test wants."""

import json
import os
import time
from pathlib import Path
from typing import Any

from driver import Astra


def plan_for(astra: Astra, folder: str = "notes", **manifest: Any) -> dict[str, Any]:
    notes = folder_for(astra, folder)
    granted = {"skills": ["sandbox"], "write_paths": [str(notes)], **manifest}
    return {
        "goals": ["Write two notes"],
        "checkpoints": [
            {"title": "First", "description": "Write the first note"},
            {"title": "Second", "description": "Write the second note"},
        ],
        "manifest": granted,
        "estimated_duration_minutes": 10,
    }


def folder_for(astra: Astra, name: str) -> Path:
    """Make a folder that boxes can write to, where a plan is granted it."""
    made = astra.root / "sandbox" / name
    made.mkdir(exist_ok=True)
    owner = made.parent.stat()
    os.chown(made, owner.st_uid, owner.st_gid)  # as root, boxes have a uid of their own
    return made


def sh(script: str) -> dict[str, Any]:
    return {
        "kind": "tool",
        "tool": "run_in_sandbox",
        "arguments": {"command": ["sh", "-c", script]},
    }


def wait_for(astra: Astra, plan: str, *states: str) -> dict[str, Any]:
    deadline = time.monotonic() + 180
    while (shown := astra.json("plans", "show", plan))["state"] not in states:
        assert time.monotonic() < deadline, shown
        time.sleep(0.2)
    return shown


def started(astra: Astra, plan: dict[str, Any]) -> str:
    """Have a plan drafted and signed, so that it runs; gives its id."""
    drafted = astra.json("tools", "call", "astra.plans.draft", json.dumps({"plan": plan}))
    astra.json("plans", "approve", drafted["id"])
    return drafted["id"]


def notes_of(plan: dict[str, Any]) -> Path:
    return Path(plan["manifest"]["write_paths"][0])


def told(request: dict[str, Any]) -> str:
    """Give everything that the model was told in one call."""
    return "\n".join(str(each["content"]) for each in request["messages"])
