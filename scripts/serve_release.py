"""Runs the Astra of the folder this file is in as an app of another Astra.

Astra starts its own processes with `-I`, so the release is put on the path here and not by
PYTHONPATH. The data root lies in the app's state folder and outlives the release; the first
release makes it. It is a throwaway: its passphrase is in the environment.

    python scripts/serve_release.py PORT SEEN_AT

It listens on PORT of its own network; SEEN_AT is the port that people ask, which is passed on.
"""

import os
import sys
from pathlib import Path

RELEASE = Path(__file__).resolve().parent.parent


def main(port: str, seen_at: str) -> int:
    sys.path.insert(0, str(RELEASE / "src"))
    state = Path(os.environ["ASTRA_STATE"])
    os.environ |= {
        "AGENT_DATA_ROOT": "${ASTRA_STATE}/data",
        "HOME": str(state),
        "XDG_CONFIG_HOME": str(state / "operator"),
        "ASTRA_OPERATOR_PASSPHRASE": "a throwaway passphrase",
    }
    make_data_root(state / "data")
    from astra.interfaces.daemon import server

    options = ["--stay", "--port", port, "--seen-at", seen_at]
    return server.main(["--data-root", str(state / "data"), *options])


def make_data_root(folder: Path) -> None:
    """Make the data root, unless a release before this one did."""
    from astra.interfaces.cli import main as cli

    if not (folder / "var" / "ledger").is_dir() and (code := cli.main(["init", "--throwaway"])):
        sys.exit(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
