"""A target that has every kind of secret file, each with a canary inside."""

import subprocess
from pathlib import Path

from changing import IDENTITY

CANARY = "canary-7d1f0c"
SECRETS = (
    ".env",
    "conf/server.key",
    "conf/chain.pem",
    "credentials.json",
    ".npmrc",
    ".aws/credentials",
    "deep/er/id_ed25519",
)
PATTERNED = "internal/payroll.csv"
OLD = "conf/removed.key"
TOML = """
[target]
test_command = "/usr/bin/python3 -m unittest -q"
"""


def make_target(path: Path) -> Path:
    """Make a repository with secrets, one of them in its history only, one under two names."""
    files = {name: f"{CANARY} {name}\n" for name in (*SECRETS, PATTERNED, OLD)}
    files |= {"agent.py": "answer = 42\n", "conf/app.toml": "a = 1\n", "src/token/lexer.py": "\n"}
    files |= {"public.txt": "both\n", "conf/public.key": "both\n"}
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    commands = (
        ("init", "-q", "-b", "trunk"),
        ("add", "-f", "."),
        (*IDENTITY, "commit", "-qm", "one"),
        ("rm", "-q", OLD),
        (*IDENTITY, "commit", "-qm", "two"),
    )
    for words in commands:
        subprocess.run(["git", *words], cwd=path, check=True)
    return path
