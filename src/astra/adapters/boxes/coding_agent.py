"""The coder's hands: the target's source, a coding agent in a box, and the way to a change."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from astra.adapters import lent_model
from astra.adapters.agent_views import Source
from astra.adapters.boxes.plan_boxes import PlanBoxes
from astra.adapters.lent_model import LentModel
from astra.adapters.workspaces import PLACE, Workspaces
from astra.changes import patches
from astra.plans.drafting import account_of
from astra.plans.grants import absolute
from astra.plans.model import AgentPlan
from astra.plans.ports import Proposal, Usage
from astra.plans.schema import Permissions
from astra.plans.terms import Contracts
from astra.spend.model import Account
from astra.trusted.calls.counter import Counter, Request
from astra.trusted.kernel.errors import AstraError, BadSetting, Refused
from astra.trusted.kernel.text import one_line
from astra.trusted.policy.call import Actor, Role
from astra.trusted.policy.manifest import Manifest
from astra.trusted.sandbox import toolchain
from astra.trusted.sandbox.ports import Boxes, BoxRequest, Outcome

Count = Callable[[Usage], None]
AGENT_SECONDS = 1_800.0
_MOST_FILES, _MOST_CHARACTERS = 40, 60_000
_LARGEST_DIFF = 4_000_000
# The copy is compared inside the box: what the agent left there is never read from the host.
_WORK = """
set -e
cp -a {place} /tmp/a
cd {place}
printf '%s' "$1" > /tmp/instructions.md
shift
CODER_INSTRUCTIONS=/tmp/instructions.md "$@" >&2 || exit 77
cd /tmp
ln -s {place} b
diff -ruN --no-dereference a b/ || test $? = 1
"""


class CoderFailed(AstraError):
    code = "coder_failed"
    http_status = 502


@dataclass(frozen=True, kw_only=True)
class SourceForCoder:
    """Files of the target that a plan may read or write, as the source view shows them."""

    source: Callable[[], Source]
    contracts: Contracts

    def read_granted(self, permissions: Permissions) -> Mapping[str, str]:
        terms = self.contracts.terms_of(permissions)
        text_by_path: dict[str, str] = {}
        for item in self.source().list(limit=1_000).items:
            if (
                len(text_by_path) >= _MOST_FILES
                or sum(map(len, text_by_path.values())) > _MOST_CHARACTERS
            ):
                break
            if terms.reads(absolute(item.path, self.contracts.code_repo)):
                text = self._read_text(item.path)
                text_by_path |= {item.path: text} if text is not None else {}
        return text_by_path

    def _read_text(self, path: str) -> str | None:
        try:
            return self.source().read(path).text
        except AstraError:
            return None


@dataclass(frozen=True, kw_only=True)
class BoxedCodingAgent:
    """`[coder] command`, in the plan's own box, on a copy of the target that vanishes with it."""

    command: Callable[[], str]
    boxes: Boxes
    workspaces: Workspaces
    commit: Callable[[], str]
    plan_boxes: Callable[[str], PlanBoxes]
    offers_model: Callable[[], bool]
    lend: Callable[[Account, Count], LentModel]

    @property
    def name(self) -> str:
        command_parts = self._split_command()
        return command_parts[0] if command_parts else ""

    def diff(self, plan: AgentPlan, instructions: str, count: Count) -> tuple[str, tuple[str, ...]]:
        manifest = self.plan_boxes(plan.id).make_manifest(AGENT_SECONDS)
        model = self.lend(account_of(plan), count) if self.offers_model() else None
        if model is not None:
            manifest = _offer(model, manifest)
        script = _WORK.format(place=PLACE)
        with self.workspaces.open(self.commit()) as workspace:
            request = BoxRequest(
                command=("sh", "-c", script, "coder", instructions, *self._split_command()),
                manifest=manifest,
                workdir=PLACE,
                correlation=plan.correlation,
                actor=f"agent:{plan.id}",
                programs=(
                    *toolchain.find_named_programs(self._split_command()),
                    *self.plan_boxes(plan.id).tools(),
                ),
                workspace=workspace,
                label=plan.id,
                environment=self.plan_boxes(plan.id).environment(),
                own_services={lent_model.HOST: model.connect} if model is not None else {},
            )
            outcome = self.boxes.run(request)
        if model is not None and model.refusals:
            raise model.refusals[-1]  # its work was cut off, however it ended
        diff = _diff_of(outcome)
        parts = patches.parse(diff.encode())
        changed_paths = (path for part in parts for path in (part.old_path, part.new_path) if path)
        return diff, tuple(dict.fromkeys(changed_paths))

    def _split_command(self) -> list[str]:
        try:
            return shlex.split(self.command())
        except ValueError as error:
            raise BadSetting(
                f"coder.command cannot be read: {error}",
                next_step="mend it in astra.toml",
                key="coder.command",
            ) from None


@dataclass(frozen=True)
class ProposedByTool:
    """The change path, reached as every agent reaches it: through the counter and the gate."""

    counter: Counter

    def propose(self, proposal: Proposal) -> str:
        arguments: dict[str, Any] = {"reason": f"{proposal.reason} (by {proposal.coder})"}
        if proposal.files is None:
            arguments["patch"] = proposal.diff
        else:
            arguments["edits"] = [_make_edit(path, text) for path, text in proposal.files.items()]
        if proposal.supersedes:
            arguments["supersedes"] = proposal.supersedes
        answer = self.counter.call(
            Request(
                name="schedule_code_modification",
                arguments=arguments,
                actor=Actor(role=Role.AGENT, name=proposal.agent_id, door="plan"),
                correlation=proposal.correlation,
                plan_id=proposal.agent_id,
            )
        )
        return str(answer["id"])


def _make_edit(path: str, text: str | None) -> dict[str, Any]:
    return {"path": path, "delete": True} if text is None else {"path": path, "content": text}


def _offer(model: LentModel, manifest: Manifest) -> Manifest:
    """Tell a box where the model is, in the variables that most programs read."""
    names = {
        "OPENAI_BASE_URL": lent_model.URL,
        "OPENAI_API_BASE": lent_model.URL,
        "OPENAI_API_KEY": "none",
        "CODER_MODEL": model.endpoint.model,
    }
    return replace(
        manifest,
        network_domains=(*manifest.network_domains, f"{lent_model.HOST}:80"),
        environment={**manifest.environment, **names},
    )


def _diff_of(outcome: Outcome) -> str:
    if not outcome.succeeded:
        lines = outcome.stderr.decode("utf-8", errors="replace").strip().splitlines()
        raise CoderFailed(
            f"the coding agent did not finish: {one_line(lines[-1] if lines else outcome.reason)}",
            next_step="look at [coder] command, and at what the plan grants",
        )
    diff = outcome.stdout.decode("utf-8", errors="replace")
    if not diff.strip():
        raise Refused("the coding agent changed nothing", next_step="say it another way")
    if len(diff) > _LARGEST_DIFF:
        raise Refused("the coding agent's diff is too large", next_step="do it in smaller parts")
    return diff
