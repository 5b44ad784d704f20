"""The go / no-go list over HTTP."""

from typing import Annotated, Any

from fastapi import Body, FastAPI

from astra.bootstrap import readiness
from astra.bootstrap.runtime import Runtime
from astra.policy.authority import Signed

Document = dict[str, Any]


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/readiness")
    def report_readiness(
        matrix: Annotated[Document | None, Body(embed=True)] = None,
    ) -> Document:
        return readiness.report(runtime, matrix)

    @app.post("/api/readiness/sign-off")
    def sign_readiness_off(
        report: Annotated[Document, Body()], authority: Annotated[Document, Body()]
    ) -> Document:
        record = readiness.sign_off(runtime, report, Signed.read(authority))
        return {"sequence": record.sequence}
