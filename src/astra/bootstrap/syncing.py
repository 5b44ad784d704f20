"""Putting the way in for people's commits together: where from, and who follows the branch."""

from contextlib import ExitStack, suppress
from pathlib import Path

from astra.adapters.boxes.boxes_only import BoxesOnly
from astra.adapters.boxes.clone_following import CloneFollower
from astra.adapters.boxes.clone_keeping import rules_file
from astra.adapters.boxes.sandbox import Sandbox
from astra.adapters.operators_remote import read_token
from astra.bootstrap.base import Base
from astra.bootstrap.changing import ChangeParts
from astra.flow import Lane, lanes
from astra.trusted.files.withholding import secret_rules
from astra.trusted.git.upstream_repo import GitUpstream
from astra.trusted.kernel.errors import AstraError
from astra.trusted.settings.git_address import GitAddress, read_git_address
from astra.trusted.upstream import sync
from astra.trusted.upstream.sync import Sync


def make_sync(base: Base, parts: ChangeParts, opened: ExitStack) -> Sync:
    upstream = GitUpstream(
        trusted=base.root.git,
        folder=base.root.var / "upstream",
        branch=base.branch,
        identity=parts.repo.identity,
        clock=base.clock,
        ssh_key=base.root.ledger_key_file.with_name("push.key"),
        read_address=lambda: _read_upstream(base),
        read_token=lambda: _read_upstream_token(base),
    )
    opened.callback(upstream.close)
    upstream_sync = Sync(
        bench=parts.changes.bench,
        upstream=upstream,
        stopped=base.stops.is_stopped,
        secrets=lambda: secret_rules(base.ledger),
    )
    base.desk.conditions[sync.KIND] = upstream_sync.check_terms
    parts.changes.bench.before_proposals.append(lambda: _look_before_proposal(base, upstream_sync))
    return upstream_sync


def _look_before_proposal(base: Base, upstream_sync: Sync) -> None:
    """Fetch the upstream where that is signed; a proposal does not fail with its network."""
    if base.configuration().target.sync.before_proposals:
        with suppress(AstraError):
            upstream_sync.look()


def make_sync_lane(base: Base, upstream_sync: Sync) -> Lane:
    return lanes.sync_lane(
        minutes=lambda: base.configuration().target.sync.every_minutes,
        look=upstream_sync.look,
        stopped=base.stops.is_stopped,
    )


def make_clone_lane(base: Base, sandbox: Sandbox, parts: ChangeParts) -> Lane:
    follower = CloneFollower(
        boxes=BoxesOnly(sandbox),
        clone=base.settings.code_repo,
        repo=parts.repo,
        ledger=base.ledger,
        rules=lambda: secret_rules(base.ledger),
        marker=rules_file(base.root.var),
    )

    def find_closed() -> str:
        if base.stops.is_stopped():
            return "stopped"
        return "the sandbox is off" if sandbox.is_off else ""

    return lanes.clone_lane(is_due=follower.is_due, follow=follower.follow, closed=find_closed)


def _read_upstream(base: Base) -> GitAddress | None:
    """Read the signed address; by default the repository that the root was made from."""
    if address := base.configuration().target.upstream:
        return read_git_address(address, key="target.upstream")
    target = base.root.require_first_record().data["target"]
    return read_git_address(str(Path(target)), key="target") if target else None


def _read_upstream_token(base: Base) -> str:
    name = base.configuration().target.upstream_token
    return read_token(base.root, name, setting="[target] upstream_token")
