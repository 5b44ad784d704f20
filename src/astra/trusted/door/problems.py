"""Errors as problem+json: a stable code, what happened, and what to do next."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from astra.trusted.kernel.errors import AstraError

MEDIA_TYPE = "application/problem+json"


class ProblemResponse(JSONResponse):
    """A problem; below `/v1` it also says so where clients of OpenAI's API look.

    There it is an error whatever it is elsewhere: those clients take every 2xx for an answer.
    """

    media_type = MEDIA_TYPE

    def __init__(self, problem: dict[str, Any], **options: Any) -> None:
        self._problem, self._options = problem, options
        super().__init__(problem, **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope.get("path", "").startswith("/v1/") or "error" in self._problem:
            await super().__call__(scope, receive, send)
            return
        document = {**self._problem, "error": describe_openai_error(self._problem)}
        options = {**self._options, "status_code": max(self.status_code, 400)}
        await ProblemResponse(document, **options)(scope, receive, send)


def describe_openai_error(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Say a problem as OpenAI's clients expect errors."""
    status = int(problem.get("status", 500))
    openai_error = {
        "message": f"{problem['detail']}; {problem['next_step']}",
        "type": _OPENAI_TYPES.get(
            status, "invalid_request_error" if status < _OUR_FAULT else "server_error"
        ),
        "param": problem.get("param"),
        "code": problem["code"],
    }
    upstream = problem.get("upstream_status")
    return {**openai_error, "upstream_status": upstream} if upstream else openai_error


_OUR_FAULT = 500
_OPENAI_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def render_problem(error: AstraError, *, status: int | None = None) -> JSONResponse:
    status = status or error.http_status
    body = {"title": type(error).__name__, "status": status, **error.as_dict()}
    return ProblemResponse(
        json.loads(json.dumps(body, default=str)),
        status_code=status,
        headers=_SAID_WITH.get(status),
    )


_SAID_WITH = {
    401: {"WWW-Authenticate": "Bearer"},
    429: {"Retry-After": "60"},
    503: {"Retry-After": "5"},
}
