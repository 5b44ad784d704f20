"""Astra's door over HTTP, with the suite's example tools and resources beside its own."""

import sys
from pathlib import Path

import example_tools

from astra.interfaces.daemon import server
from astra.interfaces.mcp import http, resources
from astra.trusted.calls.registry import Registry


def main() -> int:
    runtime = server.open_runtime(Path(sys.argv[1]))
    runtime.counter.registry = Registry([*runtime.registry.list_all(), *example_tools.TOOLS])
    resources.LISTS.update(example_tools.RESOURCES)
    http.serve_on_loopback(runtime, port=0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
