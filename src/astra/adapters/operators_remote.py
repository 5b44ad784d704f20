"""The remote that the signed configuration names: its checks, its push, its pull requests.

The token is read from `var/secrets` for each use and is in no record, argument list or box.
"""

from collections.abc import Callable
from dataclasses import dataclass

from astra.adapters.boxes.app_commands import CommitChecks
from astra.adapters.forges import ForgeClient
from astra.adapters.git_push import Push
from astra.deployments.ports import Checked
from astra.deployments.pushing import DENIED, ChangeNote, PushOrder, PushOutcome
from astra.trusted.changes.model import Change
from astra.trusted.files.data_root import DataRoot
from astra.trusted.kernel.errors import AstraError, Refused
from astra.trusted.kernel.masking import mask
from astra.trusted.kernel.text import one_line, printable
from astra.trusted.settings.deploy_settings import Deploy

_LONGEST_TITLE, _LONGEST_TEXT = 120, 8000


@dataclass(frozen=True, kw_only=True)
class OperatorsRemote:
    checks: CommitChecks
    deploy: Callable[[], Deploy]
    root: DataRoot

    def check(self, folder: str, *, correlation: str) -> Checked:
        return self.checks.run(folder, correlation=correlation)

    def push(self, order: PushOrder) -> PushOutcome:
        """Push, then ask for the pull request; what failed of the two is tried again whole."""
        deploy = self.deploy()
        try:
            token = read_token(self.root, deploy.push_token, setting="[deploy] push_token")
            outcome = self._make_push(deploy, order, token).push(order.commit)
            if not (outcome.ok and order.into):
                return outcome
            client = ForgeClient(forge=deploy.find_forge(), token=token)
            return client.request_merge(order)
        except AstraError as error:
            return PushOutcome(
                ok=False, detail=error.detail, code=DENIED, next_step=error.next_step
            )

    def _make_push(self, deploy: Deploy, order: PushOrder, token: str) -> Push:
        return Push(
            repository=self.root.git,
            remote=deploy.push_remote,
            branch=order.branch,
            key=self.root.ledger_key_file.with_name("push.key"),
            token=token,
        )


def read_token(root: DataRoot, name: str, *, setting: str) -> str:
    """Read a named token; the name was checked when the configuration was read."""
    if not name:
        return ""
    path = root.var / "secrets" / name
    try:
        token = path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        token = ""
    if not token or any(ord(char) <= ord(" ") for char in token):
        raise Refused(
            f"{setting} names {name}, and var/secrets/{name} holds no token",
            code="no_secret",
            next_step=f"write the token to var/secrets/{name} of the data root, one line",
        )
    return token


def describe_change(change: Change) -> ChangeNote:
    """Say what people at the remote read about a change: its reason, as it was signed for."""
    reason = mask(printable(str(change.about["reason"]))).strip()
    tests = change.tests["verdict"] if change.tests else "none"
    facts = (
        f"Change: {change.id}",
        f"Tests: {tests}, as reported by the code under test",
        "An operator approved it; it was deployed and stayed healthy.",
    )
    return ChangeNote(
        id=change.id,
        title=one_line(reason.split("\n", 1)[0], _LONGEST_TITLE),
        text="\n".join((reason[:_LONGEST_TEXT], "", *(f"- {fact}" for fact in facts))),
    )
