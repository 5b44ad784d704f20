"""Coding agents of others, measured beside the built-in coder: `CODER=aider make autonomy`.

Each is installed in a virtual environment of its own, which its box sees read-only, and runs as
`[coder] command` in the box of a plan. It reaches no host; the model is lent by Astra
(`[coder] offer_model`). It writes nothing beside the code: all that it leaves is the change.
"""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_ALONE = (
    "export HOME=/tmp LITELLM_LOCAL_MODEL_COST_MAP=True PYTHONDONTWRITEBYTECODE=1"
    " PYTEST_ADDOPTS='-p no:cacheprovider'"
)
"""Nothing is fetched, and no caches are left beside the code."""


def run_mini_swe_agent(folder: Path, _files: Sequence[str]) -> str:
    return (
        f"{_ALONE} MSWEA_CONFIGURED=true MSWEA_SILENT_STARTUP=1 MSWEA_COST_TRACKING=ignore_errors\n"
        f"exec {folder}/bin/mini --config mini_textbased.yaml --model-class litellm_textbased"
        " --model openai/$CODER_MODEL --yolo --exit-immediately --cost-limit 0"
        ' --output /tmp/trajectory.json --task "$(cat $CODER_INSTRUCTIONS)" </dev/null'
    )


def run_aider(folder: Path, files: Sequence[str]) -> str:
    # It looks up models of other names in a list that it fetches, unless it has one.
    return (
        f"{_ALONE}\nmkdir -p /tmp/.aider/caches\n"
        "echo '{\"none\": {}}' > /tmp/.aider/caches/model_prices_and_context_window.json\n"
        f"exec {folder}/bin/aider --model openai/$CODER_MODEL --message-file $CODER_INSTRUCTIONS"
        " --no-git --no-gitignore --yes-always --no-stream --no-pretty --no-fancy-input"
        " --no-analytics --analytics-disable --no-check-update --no-show-release-notes"
        " --no-show-model-warnings --no-suggest-shell-commands --no-detect-urls --map-tokens 0"
        " --chat-history-file /tmp/chat --input-history-file /tmp/input"
        f" {shlex.join(files)} </dev/null"
    )


CODERS: Mapping[str, Callable[[Path, Sequence[str]], str]] = {
    "mini-swe-agent": run_mini_swe_agent,
    "aider": run_aider,
}


def find_command(name: str, project: Path, files: Sequence[str]) -> str:
    """Give the `[coder] command` of an agent that `make autonomy` installed."""
    if name not in CODERS:
        raise SystemExit(f"CODER={name} is none of {', '.join(CODERS)}")
    folder = project / f".venv-{name}"
    if not (folder / ".ready").is_file():
        raise SystemExit(f"{name} is not installed: CODER={name} make autonomy")
    return shlex.join(["sh", "-c", CODERS[name](folder, files)])


def write_settings(command: str) -> str:
    return f"\n[coder]\ncommand = {json.dumps(command)}\noffer_model = true\n"


def write_plan(wish: str, writable: Sequence[str]) -> dict[str, Any]:
    """Write the contract under which an agent works: one change of code, in named places."""
    checkpoint = {
        "title": "Change the code",
        "description": f"{wish} Change no test.",
        "skills_needed": ["coder"],
        "expected_output": "a change that passes its tests",
        "step_budget": 10,
    }
    return {
        "goals": [wish],
        "checkpoints": [checkpoint],
        "manifest": {"skills": ["coder"], "read_paths": [], "write_paths": list(writable)},
        "estimated_duration_minutes": 120,
    }
