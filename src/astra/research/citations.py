"""Checking citations: the object is read again, and the quote has to be in it.

Nobody's word counts for where a quote stands: the lines are those where the server found it. A
quote that is too short, that is not there, or whose object is gone supports nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from astra.research.model import SHORTEST_QUOTE, Citation, Source
from astra.research.ports import Bodies, CodeSearch
from astra.research.quotes import is_long_enough, locate_quote
from astra.research.texts import render_body, render_record
from astra.trusted.kernel.errors import AstraError, LedgerError
from astra.trusted.kernel.masking import mask
from astra.trusted.ledger.ports import Ledger

DescribeCitation = Callable[[Citation], dict[str, Any]]
"""Gives a citation, with whether its quote is there now and why not."""
_BY_PATH = frozenset({Source.SOURCE, Source.DOCUMENTS})


class ObjectGone(AstraError):
    code = "object_gone"


@dataclass(frozen=True, kw_only=True)
class Citations:
    ledger: Ledger
    code: CodeSearch
    bodies: Bodies

    def verify(self, target: Citation, quote: str) -> Citation | None:
        """Give the citation with the lines of its quote, or None where that is not there."""
        quote = mask(quote)  # as the ledger will keep it
        if not is_long_enough(quote):
            return None
        try:
            lines = locate_quote(self.read_object(target), quote, near=target.start or 1)
        except LedgerError:
            raise
        except AstraError:
            return None
        return lines and replace(target, quote=quote, start=lines[0], end=lines[1])

    def describe(self, citation: Citation) -> dict[str, Any]:
        """Give a citation, with whether its quote is there now and why not."""
        problem = self._find_problem(citation)
        return {**citation.as_dict(), "found": not problem, "problem": problem}

    def read_object(self, citation: Citation) -> str:
        """Read the text of exactly the object that a citation names."""
        if citation.kind in _BY_PATH:
            return self._read_blob(citation)
        if citation.kind == Source.LEDGER:
            return self._read_record(citation)
        body = self.bodies.read(citation.sha256)
        if body is None:
            raise _gone(f"the body {citation.sha256[:12]} is not kept any more")
        return render_body(body)

    def _find_problem(self, citation: Citation) -> str:
        if not is_long_enough(citation.quote):
            return f"the quote has fewer than {SHORTEST_QUOTE} characters or is too long"
        try:
            text = self.read_object(citation)
        except AstraError as error:
            return error.detail
        return "" if locate_quote(text, citation.quote) else "the quote is not in the object"

    def _read_blob(self, citation: Citation) -> str:
        blob, text = self.code.read_file(citation.path, commit=citation.commit)
        if blob != citation.blob:
            raise _gone(f"{citation.path} is another blob at {citation.commit[:12]}")
        return text

    def _read_record(self, citation: Citation) -> str:
        record = self.ledger.record(citation.sequence)
        if record is None or record.hash != citation.hash:
            raise _gone(f"there is no record {citation.sequence} with that hash")
        return render_record(record)


def describe_unchecked(citation: Citation) -> dict[str, Any]:
    """Give a citation where its object cannot be read: nobody may take it for checked."""
    return {**citation.as_dict(), "found": False, "problem": "it was not checked here"}


def _gone(detail: str) -> ObjectGone:
    return ObjectGone(detail, next_step="ask again: astra research ask")
