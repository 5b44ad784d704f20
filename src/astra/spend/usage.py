"""Which reports of a model's server are believed.

A reservation is an upper bound: one token for each byte that is sent, because no tokenizer makes
more, and the output limit. A report settles it when it is possible: whole numbers, not less than
so many bytes can come to, not absurdly much. Any other report, or none, settles nothing: the
reservation stays what counts, and the record says why. So a server that reports too little, or
nothing, makes calls dearer and never cheaper. One that reports more than was reserved is believed,
because the operator pays that bill.

>>> judge_report(Report(input_tokens=900, output_tokens=50), sent_bytes=4_000, received_bytes=200)
''
>>> judge_report(Report(input_tokens=0, output_tokens=0), sent_bytes=4_000, received_bytes=200)
'the server reported 0 tokens for 4,000 bytes sent'
"""

from dataclasses import dataclass

LONGEST_TOKEN = 16
"""How many bytes a token has at most, on average over a prompt: real text has 3 to 5."""
MOST_TOKENS = 10_000_000
"""More than any model reads or writes in one call."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a server said that one call used."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


def judge_report(report: Report, *, sent_bytes: int, received_bytes: int) -> str:
    """Say why a report cannot be true, or nothing."""
    parts = (
        (report.input_tokens, sent_bytes, "sent"),
        (report.output_tokens, received_bytes, "received"),
    )
    for tokens, size, direction in parts:
        if not 0 <= tokens <= MOST_TOKENS or tokens * LONGEST_TOKEN < size:
            return f"the server reported {tokens:,} tokens for {size:,} bytes {direction}"
    if not 0 <= report.cached_tokens <= report.input_tokens:
        return f"the server reported {report.cached_tokens:,} cached tokens"
    return ""
