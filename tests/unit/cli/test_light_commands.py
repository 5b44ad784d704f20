"""What a command imports before it does anything is most of the time that it takes."""

import json
import subprocess
import sys

from astra.interfaces.cli.main import COMMANDS

HEAVY = (
    *("pydantic", "fastapi", "starlette", "mcp", "cryptography", "asyncio", "http.client"),
    *("ssl", "tomllib", "concurrent", "multiprocessing", "logging", "email", "zipfile"),
    *("astra.bootstrap", "astra.trusted.policy.authority", "astra.trusted.settings.configuration"),
    "astra.trusted.changes.model",
)
"""Each alone costs a command a tenth to several times of what an interpreter takes to start."""


def test_no_command_imports_what_it_may_not_need() -> None:
    modules = sorted({f"astra.interfaces.cli.{module}" for module, _ in COMMANDS.values()})
    program = (
        "import importlib, json, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    outcome = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, check=True, text=True
    )
    assert json.loads(outcome.stdout) == []
