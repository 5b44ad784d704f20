"""Receipts over HTTP: one record, signed, with the proof that it is in the ledger."""

from typing import Any

from fastapi import FastAPI
from pydantic import Field

from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import Shape


class ReceiptSignature(Shape):
    keyid: str = Field(description="the ledger's public key, in hex")
    sig: str = Field(description="Ed25519 over the DSSE encoding of type and payload, in base64")


class Receipt(Shape):
    """A DSSE envelope."""

    payloadType: str  # noqa: N815 - the name that DSSE gives it
    payload: str = Field(description="JSON in base64")
    signatures: list[ReceiptSignature]


def add(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/ledger/receipts/{identifier}", response_model=Receipt)
    def make_receipt(identifier: str) -> dict[str, Any]:
        """Give the receipt of a record by its number, or of the decision about an id."""
        return runtime.receipts.make(identifier)
