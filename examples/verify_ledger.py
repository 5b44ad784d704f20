"""Verify the output of `astra ledger export` without Astra: chain, hashes and sequence.

astra ledger export | python verify_ledger.py
"""

import hashlib
import json
import sys

sequence, previous = None, "0" * 64
for line in sys.stdin.buffer:
    place = f"after record {sequence}" if sequence else "in the first line"
    try:
        record = json.loads(line)
        body, _, end = line.rpartition(b',"hash":"')
        if end != hashlib.sha256(body).hexdigest().encode() + b'"}\n':
            sys.exit(f"record {record['sequence']}: its hash is not that of its bytes")
        if sequence and record["sequence"] != sequence + 1:
            sys.exit(f"record {record['sequence']} comes {place}")
        if (sequence or record["sequence"] == 1) and record["previous"] != previous:
            sys.exit(f"record {record['sequence']} does not follow the one before it")
    except (ValueError, LookupError, TypeError) as error:
        sys.exit(f"no record {place}: {error!r}")
    sequence, previous = record["sequence"], record["hash"]
if sequence is None:
    sys.exit("nothing to verify")
print(f"ok: up to record {sequence}, {previous}")
