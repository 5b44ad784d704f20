"""Errors as problem+json: a stable code, what happened, and what to do next."""

import json
import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

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
    app.add_exception_handler(AstraError, _problem)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _standard)
    app.add_exception_handler(OverflowError, _beyond_bounds)
    app.add_exception_handler(RecursionError, _beyond_bounds)
    app.add_exception_handler(FileNotFoundError, _missing_program)
    app.add_exception_handler(Exception, _unexpected)


def documented() -> dict[int | str, dict[str, Any]]:
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


def rendered(error: AstraError) -> JSONResponse:
    body = {"title": type(error).__name__, "status": error.http_status, **error.as_dict()}
    return JSONResponse(
        json.loads(json.dumps(body, default=str)),
        status_code=error.http_status,
        media_type=MEDIA_TYPE,
        headers=_SAID_WITH.get(error.http_status),
    )


_SAID_WITH = {
    401: {"WWW-Authenticate": "Bearer"},
    429: {"Retry-After": "60"},
    503: {"Retry-After": "5"},
}


async def _problem(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AstraError)  # noqa: S101 - registered for it
    return rendered(error)


async def _malformed(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it
    told = [
        {"where": ".".join(map(str, each["loc"])), "what": str(each["msg"])}
        for each in error.errors()[:_MOST_TOLD]
    ]
    what = "; ".join(f"{each['where']}: {each['what']}" for each in told)
    problem = BadInput(
        f"request not valid: {what}",
        next_step="see docs/reference/http.md, or /openapi.json",
        errors=told,
    )
    return rendered(problem)


async def _standard(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it
    codes = {404: "not_found", 405: "wrong_method"}
    body = Problem(
        title="HTTPException",
        status=error.status_code,
        code=codes.get(error.status_code, "bad_input"),
        detail=str(error.detail).lower(),
        next_step="see docs/reference/http.md, or /openapi.json",
    )
    return JSONResponse(
        body.model_dump(),
        status_code=error.status_code,
        media_type=MEDIA_TYPE,
        headers=dict(error.headers or {}),
    )


async def _beyond_bounds(_request: Request, error: Exception) -> JSONResponse:
    """Answer a number too large for any table, or JSON nested too deeply: the caller's doing."""
    what = "a number is too large" if isinstance(error, OverflowError) else "it is nested too deep"
    return rendered(BadInput(f"the request cannot be taken: {what}", next_step="send less"))


async def _missing_program(request: Request, error: Exception) -> JSONResponse:
    """Name a program that is not installed any more; any other missing file is a fault of ours."""
    if str(getattr(error, "filename", "")) not in _PROGRAMS:
        return await _unexpected(request, error)
    return rendered(
        DaemonUnavailable(
            f"the program {getattr(error, 'filename', '')} is not installed",
            code="no_program",
            next_step="install it; `astra doctor` says what else is missing",
        )
    )


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    """Say that something went wrong here; what it was is in the log, not in the answer."""
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return rendered(
        AstraError(
            "the daemon failed at this request",
            next_step="look at logs/daemon.log in the data root",
        )
    )
