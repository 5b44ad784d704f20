"""P13: how long a person waits for `astra status`, and for a daemon to start.

Reference: an interpreter that does nothing. (`astra mcp` joins this row when it exists.)
"""

import os
import subprocess
import sys
from pathlib import Path

from astra.interfaces.cli.client import Client, start_daemon
from measuring import at_most, at_most_over, best_rounds, folder, is_quick, report, seconds

ASTRA = Path(sys.executable).with_name("astra")


def main() -> None:
    rounds = 2 if is_quick() else 20
    with folder() as place:
        use_only(place)
        root = place / "data"
        target = place / "target"
        call("git", "init", "-q", "-b", "main", target)
        identity = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost")
        call("git", "-C", target, *identity, "commit", "-q", "--allow-empty", "-m", "one")
        call(ASTRA, "init", target, "--throwaway")
        starts = best_rounds({"daemon": lambda: time_start(root)}, rounds=max(rounds // 4, 1))
        best = best_rounds(
            {
                "status": lambda: seconds(lambda: call(ASTRA, "status")),
                "python": lambda: seconds(lambda: call(sys.executable, "-c", "pass")),
            },
            rounds,
        )
        call(ASTRA, "down")
    report("P13 astra status, seconds", best["status"], best["python"], at_most_over(0.15))
    report("P13 daemon start, seconds", starts["daemon"], target=at_most(3))


def use_only(place: Path) -> None:
    """Point this process and its children at a throwaway data root and at nothing else."""
    for name in [name for name in os.environ if name.startswith(("ASTRA_", "AGENT_"))]:
        del os.environ[name]
    os.environ |= {
        "XDG_CONFIG_HOME": str(place / "config"),
        "AGENT_DATA_ROOT": str(place / "data"),
        "ASTRA_OPERATOR_PASSPHRASE": "only for measuring",
    }
    os.chdir(place)


def time_start(root: Path) -> float:
    """End the daemon, then wait until another one answers."""
    call(ASTRA, "down")
    return seconds(lambda: (start_daemon(root), Client(root).get("/healthz")))


def call(*command: str | Path) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
