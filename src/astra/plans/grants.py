"""What an approved plan may do, as one value with one hash.

Grants are the plan's manifest, and beside it what the operator added while it ran. An item that the
global allowlist already held at the approval is `auto_approved`: it counts only while it is still
there. The hash binds the plan's hash, every item and those marks; the operator signs it too.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from astra.plans.schema import GRANT_KINDS, Permissions
from astra.trusted.kernel import canonical
from astra.trusted.policy import domains, manifest
from astra.trusted.policy.globs import has_wildcard
from astra.trusted.policy.manifest import Limits, Manifest

Item = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Grants:
    agent_id: str
    plan_hash: str
    permissions: Permissions
    auto_approved: tuple[Item, ...] = ()
    added: tuple[Item, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "agent_id": self.agent_id,
            "plan_hash": self.plan_hash,
            **self.permissions.as_dict(),
            "auto_approved": [list(item) for item in self.auto_approved],
            "added": [list(item) for item in self.added],
        }

    def hash(self) -> str:
        return hashlib.sha256(canonical.encode(self.as_dict())).hexdigest()

    def plus(self, items: tuple[Item, ...]) -> "Grants":
        return replace(self, added=(*self.added, *items))

    def in_force(self, allowed: Callable[[str, str], bool]) -> Permissions:
        """Give what counts now: an automatic item goes with the allowlist's."""
        withdrawn = {item for item in self.auto_approved if not allowed(*item)}
        permissions = self.permissions.without(frozenset(withdrawn))
        for kind, value in self.added:
            permissions = permissions.plus(kind, value)
        return permissions

    @staticmethod
    def read(document: dict[str, Any]) -> "Grants":
        kinds = {
            kind: tuple(document[kind])
            for kind in Permissions.__dataclass_fields__
            if kind in document
        }
        return Grants(
            agent_id=document["agent_id"],
            plan_hash=document["plan_hash"],
            permissions=Permissions(**kinds),
            auto_approved=tuple((kind, value) for kind, value in document["auto_approved"]),
            added=tuple((kind, value) for kind, value in document["added"]),
        )


def make_grants(
    agent_id: str, plan_hash: str, wanted: Permissions, allowed: Callable[[str, str], bool]
) -> Grants:
    """Give the grants that an approval of this plan would make."""
    marked = [
        (kind, value)
        for kind in GRANT_KINDS
        for value in wanted.list_values(kind)
        if allowed(kind, value)
    ]
    return Grants(
        agent_id=agent_id, plan_hash=plan_hash, permissions=wanted, auto_approved=tuple(marked)
    )


def review(
    grants: Grants,
    *,
    code_repo: str,
    allowed: Callable[[str, str], bool] = lambda _kind, _value: True,
) -> dict[str, Any]:
    """Show a manifest item by item, with what is new, and the box it makes in words.

    `allowed` tells of an automatic item whether the allowlist holds it still.
    """
    automatic = set(grants.auto_approved)
    everything = grants.in_force(lambda _kind, _value: True)
    counting = grants.in_force(allowed)
    items = [
        {
            "kind": kind,
            "value": value,
            "auto_approved": (kind, value) in automatic,
            "new": (kind, value) not in automatic,
            "taken_back": value not in counting.list_values(kind),
            "in_words": _describe_item(kind, value),
        }
        for kind in (*GRANT_KINDS, "destructive_ops")
        for value in everything.list_values(kind)
    ]
    box = make_manifest(counting, code_repo=code_repo)
    return {
        "items": items,
        "new": len([item for item in items if item["new"]]),
        "sandbox": manifest.describe_manifest(box).splitlines(),
    }


def make_manifest(
    permissions: Permissions, *, code_repo: str, limits: Limits | None = None
) -> Manifest:
    """Say what the box of these permissions has; relative paths are the target's."""
    return Manifest(
        read_paths=tuple(absolute(path, code_repo) for path in permissions.read_paths),
        write_paths=tuple(absolute(path, code_repo) for path in permissions.write_paths),
        network_domains=permissions.network_domains,
        limits=limits or Limits(),
    )


def absolute(path: str, code_repo: str) -> str:
    return path if path.startswith("/") else f"{code_repo}/{path}"


def covers(kind: str, granted: str, value: str) -> bool:
    """Say whether one allowlisted item holds another: itself, a folder's file, a domain's host."""
    if granted == value:
        return True
    if kind == "network_domains":
        return _covers_domain(granted, value)
    if kind in {"read_paths", "write_paths"} and not has_wildcard(granted + value):
        return manifest.is_within(value, granted)
    return False


def _covers_domain(granted: str, value: str) -> bool:
    outer, inner = domains.parse_grant(granted), domains.parse_grant(value)
    same_port = outer.port == inner.port
    return same_port and not inner.below and domains.names_host([outer], inner.host)


def _describe_item(kind: str, value: str) -> str:
    return {
        "network_domains": f"can send anything it reads to anyone at {value}",
        "read_paths": f"can read {value}",
        "write_paths": f"can change and delete {value}",
        "skills": f"can use {value}",
        "destructive_ops": f"means to use {value} destructively; each time asks you again",
    }[kind]
