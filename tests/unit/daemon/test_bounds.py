"""What is too large, too deep or not installed is a refusal with a name, not a fault."""

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from astra.interfaces.daemon import error_answers
from astra.trusted.door.front_door import SocketDoor


def raising(error: Exception) -> TestClient:
    app = FastAPI()
    error_answers.add(app)

    @app.get("/")
    def fail() -> None:
        raise error

    return TestClient(app, raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (OverflowError("Python int too large to convert to SQLite INTEGER"), 400, "bad_input"),
        (RecursionError("maximum recursion depth exceeded"), 400, "bad_input"),
        (FileNotFoundError(2, "No such file or directory", "git"), 503, "no_program"),
        (FileNotFoundError(2, "No such file or directory", "/some/file"), 500, "failed"),
    ],
)
def test_a_request_beyond_bounds_is_answered_by_name(
    error: Exception, status: int, code: str
) -> None:
    answer = raising(error).get("/")
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_body_on_the_socket_has_a_limit() -> None:
    app = FastAPI()

    @app.post("/")
    def take(body: dict[str, Any]) -> int:
        return len(body)

    client = TestClient(SocketDoor(app, largest=100))
    assert client.post("/", json={"a": 1}).json() == 1
    refused = client.post("/", json={"a": "x" * 200})
    assert (refused.status_code, refused.json()["code"]) == (413, "body_too_large")
    chunks = (b"x" * 60 for _ in range(3))
    assert client.post("/", content=chunks).status_code == 413
