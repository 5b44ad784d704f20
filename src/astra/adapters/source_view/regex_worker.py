"""Search documents for a regular expression, in a process that may be killed at any moment.

Run as a script by `search`, with no site packages and no environment, so it imports only the
standard library. Input: a line of JSON (`pattern`, `ignore_case`, `limit`, `seconds`, `megabytes`,
and `lengths`, the size of each document in bytes), then the documents. Output: JSON, either `found`
(document, line, column) or `error`. It is handed only text that reading would show.
"""

import json
import re
import resource
import sys
from typing import Any


def main() -> None:
    order = json.loads(sys.stdin.buffer.readline())
    _limit_resources(order["seconds"], order["megabytes"])
    print(json.dumps(_answer_order(order)))  # noqa: T201 - standard output is the answer


def _answer_order(order: dict[str, Any]) -> dict[str, Any]:
    try:
        pattern = re.compile(order["pattern"], re.IGNORECASE if order["ignore_case"] else 0)
        return {"found": _search_documents(pattern, order["lengths"], order["limit"])}
    except re.error as error:
        return {"error": str(error)}
    except (MemoryError, OverflowError, RecursionError) as error:
        return {"error": f"too large a pattern ({type(error).__name__})"}


def _search_documents(pattern: re.Pattern[str], lengths: list[int], limit: int) -> list[list[int]]:
    matches: list[list[int]] = []
    for document, length in enumerate(lengths):
        lines = sys.stdin.buffer.read(length).decode().split("\n")
        for number, line in enumerate(lines, start=1):
            match = pattern.search(line)
            if match is not None:
                matches.append([document, number, match.start()])
                if len(matches) >= limit:
                    return matches
    return matches


def _limit_resources(seconds: int, megabytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
