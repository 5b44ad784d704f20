"""What becomes a problem: every error of a route, and how the description says that it refuses."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from astra.trusted.door.problems import MEDIA_TYPE, ProblemResponse, render_problem
from astra.trusted.kernel.errors import AstraError, BadInput, DaemonUnavailable

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
