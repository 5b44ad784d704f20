"""An OpenTelemetry collector on this machine: it reads requests by OpenTelemetry's own schema."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_IDS = ("traceId", "spanId", "parentSpanId")
PATIENCE = 240.0


class Collector(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Any] = []
        self.bodies: list[str] = []
        self.status = 200
        self.changed = threading.Condition()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def take(self, body: bytes) -> None:
        request = read_request(json.loads(body))
        with self.changed:
            self.bodies.append(body.decode())
            self.spans += [
                span
                for resource in request.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            ]
            self.changed.notify_all()

    def wait_for(self, name: str) -> Any:
        """Give the first span of a name, once it is there."""

        def find() -> list[Any]:
            return [span for span in self.spans if span.name == name]

        with self.changed:
            assert self.changed.wait_for(find, timeout=PATIENCE), f"no span {name}"
            return find()[0]


def read_request(document: dict[str, Any]) -> Any:
    """Read a request; a member that the schema does not have is an error.

    OTLP writes ids in hexadecimal where protobuf's JSON has base64.
    """
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name in _IDS:
                    if name in span:
                        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    return json_format.ParseDict(document, ExportTraceServiceRequest())


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_expected = self.path == "/v1/traces"
        if self.server.status == 200 and is_expected:
            self.server.take(body)
        self.send_response(self.server.status if is_expected else 404)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_words: Any) -> None:
        """Say nothing."""


@contextmanager
def open_collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        yield server
        server.shutdown()
        thread.join()
