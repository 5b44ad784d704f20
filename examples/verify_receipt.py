"""Verify a receipt of `astra ledger receipt` without Astra; it takes the library `cryptography`.

python verify_receipt.py RECEIPT.json [LEDGER_KEY]: the public key you were told of elsewhere
"""

import base64
import hashlib
import json
import sys
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def require(holds: bool, problem: str) -> None:  # noqa: FBT001 - read as a sentence
    if not holds:
        sys.exit(f"NOT VALID: {problem}")


def check_signature(key: str, message: bytes, signature: bytes, problem: str) -> None:
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, message)
    except InvalidSignature:
        sys.exit(f"NOT VALID: {problem} does not fit")


def read_record(proof: dict, tree: dict) -> dict:
    """Check a record's own hash and its path to the root of the tree (RFC 9162)."""
    body, _, end = proof["line"].encode().rpartition(b',"hash":"')
    digest = hashlib.sha256(body).digest()
    require(end == digest.hex().encode() + b'"}', "a record is not as it was written")
    record, steps = json.loads(proof["line"]), iter(map(bytes.fromhex, proof["path"]))
    node = hashlib.sha256(b"\0" + digest).digest()
    index, last = record["sequence"] - 1, tree["size"] - 1
    require(0 <= index <= last, "a record is beyond the end of the tree")
    while last:
        if index % 2:
            node = hashlib.sha256(b"\1" + next(steps, b"") + node).digest()
        elif index < last:
            node = hashlib.sha256(b"\1" + node + next(steps, b"")).digest()
        index, last = index // 2, last // 2
    require(node.hex() == tree["root"] and not list(steps), "a record is not in the tree")
    return record


def check_decision(record: dict, root_id: str, keys: dict, recovery: str) -> str:
    """Check the operator's signature over exactly this record's content; say by which key."""
    content = {name: value for name, value in record["data"].items() if name != "authority"}
    statement = (authority := record["data"]["authority"])["statement"]
    signed = (statement["action"], statement["content"])
    require(signed == (record["type"], content), "another decision was signed")
    require(statement["data_root"] == root_id, "it was signed for another data root")
    require(statement["expires_at"] >= record["time"], "the signature had expired")
    allowed = [*keys.values(), *([recovery] if record["type"] == "operator_key_rotated" else [])]
    if "client_data" in authority and not record["type"].startswith("operator_"):
        return f"passkey {authority['key']}, whose assertion this program does not check"
    require(authority["key"] in allowed, "not the operator's key")
    text = json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    message, signature = b"astra-statement-v1\n" + text.encode(), authority["signature"]
    check_signature(authority["key"], message, bytes.fromhex(signature), "the operator's signature")
    return f"the operator's key {authority['key']}"


def follow_change(data: dict, keys: dict) -> None:
    """Follow which operator has which key. Roles and further signatures are not checked here."""
    signer = next((name for name, key in keys.items() if key == data["authority"]["key"]), "owner")
    if (new_key := data.get("new_key") or data.get("key")) or data.keys() == {"authority", "name"}:
        keys[data.get("name", signer)] = new_key


def main(path: str, expected: str | None = None) -> None:
    envelope = json.loads(Path(path).read_text(encoding="utf-8"))
    kind, body = envelope["payloadType"].encode(), base64.b64decode(envelope["payload"])
    tree, root_id = (payload := json.loads(body))["tree"], payload["root_id"]
    origin = read_record(payload["origin"], tree)
    is_first = origin["sequence"] == 1 and origin["previous"] == "0" * 64
    require(is_first and origin["data"]["root_id"] == root_id, "not the first record of its root")
    ledger_key, operator = origin["data"]["ledger_key"], origin["data"]["operator_key"]
    require(expected in (None, ledger_key), "it is of another ledger")
    message = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body)
    signature = base64.b64decode(envelope["signatures"][0]["sig"])
    check_signature(ledger_key, message, signature, "the ledger's signature")
    record, who = read_record(payload["record"], tree), "nobody's signature"
    keys, recovery = {"owner": operator}, origin["data"]["recovery_key"]
    for change in (read_record(proof, tree) for proof in payload["keys"]):
        if change["sequence"] < record["sequence"] and change["type"].startswith("operator_"):
            check_decision(change, root_id, keys, recovery)
            follow_change(change["data"], keys)
    if "authority" in record["data"]:
        who = check_decision(record, root_id, keys, recovery)
    print(f"ok: record {record['sequence']} of {root_id}, {record['type']} at {record['time']}")
    print(f"by {who}, in a ledger of {tree['size']} records whose key is {ledger_key}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        sys.exit(f"NOT VALID: it cannot be read: {error!r}")
