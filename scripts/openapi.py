"""Write `web/openapi.json` from the code, without a daemon: the web client's types come from it.

A test compares the two, so a change to a route or an answer needs `make docs`.
"""

import json
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "web" / "openapi.json"


def main() -> None:
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text())
    print(FILE.relative_to(ROOT))


def text() -> str:
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def document() -> dict[str, Any]:
    """Describe the API as the daemon does at `/openapi.json`."""
    from astra.interfaces.daemon import app
    from astra.interfaces.daemon.activity import Activity

    runtime: Any = types.SimpleNamespace(ledger=None)
    nothing: Any = None
    return app.build(runtime, Activity(), lambda: None, nothing).openapi()


if __name__ == "__main__":
    main()
