"""The go / no-go list over HTTP."""

from typing import Annotated, Any

from fastapi import Body, FastAPI
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Accepted, Shape
from astra.trusted.policy.authority import Signed

Document = dict[str, Any]


class MatrixRow(Shape):
    name: str
    flag: str
    passed: bool
    summary: str


class Matrix(Shape):
    """What `make matrix` wrote."""

    rows: list[MatrixRow] = Field(default_factory=list[MatrixRow])


class ReadinessLine(Shape):
    name: str
    go: bool
    evidence: str


class ReadinessSigned(Shape):
    """What an operator signs of a report."""

    sha256: str
    go: bool
    at: str


class Readiness(ReadinessSigned):
    head: str
    lines: list[ReadinessLine]


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/readiness", response_model=Readiness)
    def report_readiness(
        matrix: Annotated[Matrix | None, Body(embed=True)] = None,
    ) -> Document:
        return runtime.change_parts.readiness.report(matrix.model_dump() if matrix else None)

    @app.post("/api/readiness/sign-off")
    def sign_readiness_off(
        report: Annotated[ReadinessSigned, Body()], authority: Annotated[Document, Body()]
    ) -> Accepted:
        record = runtime.change_parts.readiness.sign_off(
            report.model_dump(), Signed.read(authority)
        )
        return Accepted(sequence=record.sequence)
