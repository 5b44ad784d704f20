"""Fetching goes through the proxy to the one approved host, and every attempt is a record."""

import errno
import http.server
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from astra.adapters.boxes.agent_boxes import AgentBoxes, FetchFailed
from astra.adapters.boxes.sandbox import BOX_ENDED, Sandbox
from astra.adapters.bubblewrap.preflight import Preflight
from astra.testing import MemoryLedger
from astra.trusted.egress.egress_proxy import Internet
from astra.trusted.file_ledger.trouble import unavailable_error
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import LedgerUncertain
from astra.trusted.ledger import views
from astra.trusted.ledger.record import Event, Record

PUBLIC = "93.184.216.34"


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(404 if self.path == "/missing" else 200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"hello from outside")

    def log_message(self, *_words: object) -> None:
        pass


@contextmanager
def server() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as found:
        thread = threading.Thread(target=found.serve_forever, args=[0.02], daemon=True)
        thread.start()
        yield found.server_address[1]
        found.shutdown()


@pytest.fixture
def boxes(tmp_path: Path) -> Iterator[AgentBoxes]:
    with server() as port:
        internet = Internet(
            resolve=lambda _host, _port: [PUBLIC],
            dial=lambda _address, _port: socket.create_connection(("127.0.0.1", port)),
        )
        root = DataRoot(tmp_path)
        root.make_folders()
        sandbox = Sandbox(
            root, MemoryLedger(), internet=internet, check=lambda: Preflight(problems=())
        )
        yield AgentBoxes(
            sandbox=sandbox,
            folder=tmp_path / "sandbox",
            code_repo=tmp_path / "code-repo",
            persona=tmp_path / "persona_space",
            may_write_code=lambda: False,
        )


def fetch(boxes: AgentBoxes, url: str, grant: str) -> bytes:
    story = "cor_0000000000000001"
    return boxes.fetch(url, grant, actor="agent:test", correlation=story).body


def test_an_approved_host_is_fetched_and_recorded(boxes: AgentBoxes) -> None:
    assert fetch(boxes, "http://example.com/", "example.com") == b"hello from outside"
    (attempt,) = views.records(boxes.sandbox.ledger, type_="egress_attempted")
    assert attempt.data["host"] == "example.com"
    assert attempt.data["allowed"] is True
    assert attempt.correlation == "cor_0000000000000001"
    (opened,) = views.records(boxes.sandbox.ledger, type_="egress_opened")
    assert opened.data == {"host": "example.com", "port": 80}
    assert (opened.correlation, opened.sequence) == (attempt.correlation, attempt.sequence - 1)


def test_another_host_than_the_approved_one_is_refused_and_recorded(boxes: AgentBoxes) -> None:
    with pytest.raises(FetchFailed) as failed:
        fetch(boxes, "http://evil-example.com/", "example.com")
    (attempt,) = views.records(boxes.sandbox.ledger, type_="egress_attempted")
    assert attempt.data["allowed"] is False
    assert failed.value.facts["cause"] == attempt.data["reason"] == "not_granted"
    assert "this host was not granted" in failed.value.detail
    assert views.records(boxes.sandbox.ledger, type_="egress_opened") == []


def test_an_error_page_is_an_answer(boxes: AgentBoxes) -> None:
    story = "cor_0000000000000001"
    found = boxes.fetch(
        "http://example.com/missing", "example.com", actor="agent:test", correlation=story
    )
    assert found.status == 404


def test_a_box_whose_end_finds_the_disk_full_is_never_said_not_to_have_run(
    boxes: AgentBoxes,
) -> None:
    ledger = cast("MemoryLedger", boxes.sandbox.ledger)
    append = ledger.append

    def refuse(events: Sequence[Event], **options: Any) -> list[Record]:
        if events[0].type == BOX_ENDED:
            raise unavailable_error(OSError(errno.ENOSPC, ""))
        return append(events, **options)

    ledger.append = refuse
    with pytest.raises(LedgerUncertain, match="ran in a box, and how it ended") as uncertain:
        fetch(boxes, "http://example.com/", "example.com")
    assert uncertain.value.http_status == 500
