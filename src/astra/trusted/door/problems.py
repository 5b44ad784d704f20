"""Errors as problem+json: a stable code, what happened, and what to do next."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from astra.trusted.kernel.errors import AstraError, BadInput, DaemonUnavailable

MEDIA_TYPE = "application/problem+json"
_MOST_TOLD = 10
_PROGRAMS = frozenset({"git", "bwrap"})
_log = logging.getLogger("astra.daemon")


class Problem(BaseModel):
    """What went wrong. Further members depend on the code."""

    model_config = ConfigDict(extra="allow")

    title: str
    status: int
    code: str = Field(description="a stable reason; all of them are in the reference of errors")
    detail: str
    next_step: str = Field(description="what to do about it")


def add(app: FastAPI) -> None:
    app.add_exception_handler(AstraError, _handle_astra_error)
    app.add_exception_handler(RequestValidationError, _handle_invalid_request)
    app.add_exception_handler(HTTPException, _handle_http_exception)
    app.add_exception_handler(OverflowError, _beyond_bounds)
    app.add_exception_handler(RecursionError, _beyond_bounds)
    app.add_exception_handler(FileNotFoundError, _missing_program)
    app.add_exception_handler(Exception, _handle_unexpected_error)


def describe_responses() -> dict[int | str, dict[str, Any]]:
    """Say in the description of every route how it refuses."""
    return {
        "default": {
            "description": "refused, not found, or failed",
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        },
        202: {
            "description": "a person has to decide first (`code` is `needs_approval`)",
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        },
    }


class Described(FastAPI):
    """An application whose description also says what a problem is."""

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        document["components"]["schemas"]["Problem"] = Problem.model_json_schema()
        return document


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


async def _handle_astra_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AstraError)  # noqa: S101 - registered for it
    return render_problem(error)


async def _handle_invalid_request(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it
    field_errors = [
        {"where": ".".join(map(str, field_error["loc"])), "what": str(field_error["msg"])}
        for field_error in error.errors()[:_MOST_TOLD]
    ]
    summary = "; ".join(
        f"{field_error['where']}: {field_error['what']}" for field_error in field_errors
    )
    problem = BadInput(
        f"request not valid: {summary}",
        next_step="see docs/reference/http.md, or /openapi.json",
        errors=field_errors,
    )
    return render_problem(problem)


async def _handle_http_exception(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    codes = {404: "not_found", 405: "wrong_method"}
    body = Problem(
        title="HTTPException",
        status=error.status_code,
        code=codes.get(error.status_code, "bad_input"),
        detail=str(error.detail).lower(),
        next_step="see docs/reference/http.md, or /openapi.json",
    )
    return ProblemResponse(
        body.model_dump(),
        status_code=error.status_code,
        headers=dict(error.headers or {}),
    )


async def _beyond_bounds(_request: Request, error: Exception) -> JSONResponse:
    """Answer a number too large for any table, or JSON nested too deeply: the caller's doing."""
    cause = "a number is too large" if isinstance(error, OverflowError) else "it is nested too deep"
    return render_problem(BadInput(f"the request cannot be taken: {cause}", next_step="send less"))


async def _missing_program(request: Request, error: Exception) -> JSONResponse:
    """Name a program that is not installed any more; any other missing file is a fault of ours."""
    if str(getattr(error, "filename", "")) not in _PROGRAMS:
        return await _handle_unexpected_error(request, error)
    return render_problem(
        DaemonUnavailable(
            f"the program {getattr(error, 'filename', '')} is not installed",
            code="no_program",
            next_step="install it; `astra doctor` says what else is missing",
        )
    )


async def _handle_unexpected_error(request: Request, error: Exception) -> JSONResponse:
    """Say that something went wrong here; what it was is in the log, not in the answer."""
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return render_problem(
        AstraError(
            "the daemon failed at this request",
            next_step="look at logs/daemon.log in the data root",
        )
    )
