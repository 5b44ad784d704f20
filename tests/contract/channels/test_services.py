"""The shapes of real services: what a mail server, ntfy, Matrix and a Slack-like hook receive."""

import email
import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from astra.adapters.apprise_channels import AppriseChannels
from astra.notifications.outbox import Message

pytestmark = pytest.mark.filterwarnings("ignore:.imghdr. is deprecated:DeprecationWarning")
LINK = "https://astra.example.org/approvals/apr_00c0ffee"
TITLE = "fetch_url https://example.org/tides"
WORDING = "Astra: a request waits for your decision"
MESSAGE = Message(wording=WORDING, content=TITLE, about="apr_00c0ffee", link=LINK)
TEXT = f"{WORDING}\n{LINK}\napr_00c0ffee"


class Mailbox(socketserver.ThreadingTCPServer):
    """A mail server that takes everything, or says no to every recipient."""

    daemon_threads = True

    def __init__(self, *, refuses: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), _MailSession)
        self.refuses = refuses
        self.letters: list[str] = []


class _MailSession(socketserver.StreamRequestHandler):
    server: Mailbox

    def handle(self) -> None:
        self._say("220 mailbox.test")
        while line := self.rfile.readline().decode().strip():
            verb = line.split()[0].upper()
            if verb == "DATA":
                self._say("354 go on")
                self.server.letters.append(self._read_letter())
                self._say("250 taken")
            elif verb == "QUIT":
                self._say("221 bye")
                return
            else:
                no = verb == "RCPT" and self.server.refuses
                self._say("550 no such mailbox" if no else "250 mailbox.test")

    def _read_letter(self) -> str:
        lines: list[str] = []
        while (line := self.rfile.readline().decode()) != ".\r\n":
            lines.append(line)
        return "".join(lines)

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


class Site(ThreadingHTTPServer):
    """Any service with an HTTP interface; it keeps what it was sent, and answers as told."""

    daemon_threads = True

    def __init__(self, answers: dict[str, Any], status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _SiteHandler)
        self.answers, self.status = answers, status
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []


class _SiteHandler(BaseHTTPRequestHandler):
    server: Site

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = raw.decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.command, self.path, headers, body))
        known = self.server.answers.items()
        answer = next((document for part, document in known if part in self.path), {})
        text = json.dumps(answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_PUT = do_GET = do_POST  # noqa: N815 - the names that the server calls

    def log_message(self, *_words: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(server: Any) -> Iterator[int]:
    with server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def send(address: str) -> bool:
    return AppriseChannels(addresses={"CHANNEL": address}).send("CHANNEL", MESSAGE)


def test_a_mail_arrives_with_the_id_and_the_link() -> None:
    mailbox = Mailbox()
    with serving(mailbox) as port:
        address = f"mailto://127.0.0.1:{port}?smtp=127.0.0.1&mode=insecure"
        assert send(f"{address}&from=astra@example.org&to=ada@example.org&format=text")
    (letter,) = mailbox.letters
    parsed = email.message_from_string(letter)
    body = parsed.get_payload(decode=True)
    assert isinstance(body, bytes)
    assert body.decode().replace("\r\n", "\n").strip() == TEXT
    assert "ada@example.org" in str(parsed["To"])
    assert str(parsed["Subject"]) == TITLE


def test_a_mail_server_that_refuses_the_recipient_is_a_failure() -> None:
    with serving(Mailbox(refuses=True)) as port:
        address = f"mailto://127.0.0.1:{port}?smtp=127.0.0.1&mode=insecure"
        assert not send(f"{address}&from=astra@example.org&to=ada@example.org")


def test_ntfy_gets_the_text_on_its_topic_with_its_token() -> None:
    site = Site({})
    with serving(site) as port:
        assert send(f"ntfy://tk_secret@127.0.0.1:{port}/astra?auth=token")
    ((_, _, headers, body),) = site.requests
    assert body["topic"] == "astra"
    assert body["message"] == TEXT
    assert body["title"] == TITLE
    assert headers["authorization"] == "Bearer tk_secret"


def test_a_slack_compatible_hook_gets_the_text() -> None:
    site = Site({})
    with serving(site) as port:
        assert send(f"mmost://127.0.0.1:{port}/0123456789abcdef")
    ((_, path, _, body),) = site.requests
    assert path == "/hooks/0123456789abcdef"
    assert body["text"].splitlines()[0].endswith(TITLE)
    assert LINK in body["text"]
    assert "apr_00c0ffee" in body["text"]


def test_matrix_gets_the_text_in_its_room() -> None:
    room = "!room:example.org"
    answers = {"/send/": {"event_id": "$1"}, "/join": {"room_id": room}, "/whoami": {}}
    site = Site({**answers, "/login": {"access_token": "t", "user_id": "@a:b", "home_server": "b"}})
    with serving(site) as port:
        assert send(f"matrix://someone:hunter2@127.0.0.1:{port}/{room}?format=text")
    bodies = [body for _, path, _, body in site.requests if "/send/" in path]
    ((title, *lines),) = [body["body"].splitlines() for body in bodies]
    assert title.endswith(TITLE)
    assert lines == TEXT.splitlines()


@pytest.mark.parametrize("scheme", ["ntfy://127.0.0.1:{}/astra", "mmost://127.0.0.1:{}/0123456789"])
def test_a_service_that_answers_no_is_a_failure(scheme: str) -> None:
    with serving(Site({}, status=500)) as port:
        assert not send(scheme.format(port))
