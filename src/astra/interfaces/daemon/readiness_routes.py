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
    """What `make matrix` wrote: about which code, when, and each row."""

    code: str = Field(max_length=64)
    at: str = Field(max_length=40)
    rows: list[MatrixRow] = Field(default_factory=list[MatrixRow])


class MatrixSigned(Matrix):
    target: str


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
    def report_readiness() -> Document:
        return runtime.readiness.report()

    @app.post("/api/readiness/matrix/content", response_model=MatrixSigned)
    def show_matrix_content(matrix: Matrix) -> Document:
        """Give what an operator signs to have a run of the matrix count for the target now."""
        return runtime.readiness.matrix_content(matrix.model_dump())

    @app.post("/api/readiness/matrix")
    def record_matrix(
        matrix: Annotated[Matrix, Body()], authority: Annotated[Document, Body()]
    ) -> Accepted:
        record = runtime.readiness.record_matrix(matrix.model_dump(), Signed.read(authority))
        return Accepted(sequence=record.sequence)

    @app.post("/api/readiness/sign-off")
    def sign_readiness_off(
        report: Annotated[ReadinessSigned, Body()], authority: Annotated[Document, Body()]
    ) -> Accepted:
        record = runtime.readiness.sign_off(report.model_dump(), Signed.read(authority))
        return Accepted(sequence=record.sequence)
