"""What tools answer, under names of its own, and what is worked on: changes, plans, tasks."""

from typing import Any

from pydantic import Field

from astra.changes.lines import LONGEST_REMARK, MOST_REMARKS, Side
from astra.interfaces.daemon.models import Accepted, Growing, Page, Shape
from astra.tools import changes, desires, plans, research, schedules


class ScheduleShown(schedules.Shown):
    pass


class ScheduleCreated(schedules.Created):
    pass


class FiringShown(schedules.Firing):
    pass


class DesireShown(desires.DesireAnswer):
    pass


class PlanBrief(plans.Short):
    pass


class PlanShown(plans.Shown):
    pass


class HostLookedUp(Shape):
    value: str = Field(description="the grant, as the plan asks for it")
    outcome: str = Field(description="whether the name exists, or why that is not known")


class HostsLookedUp(Shape):
    items: list[HostLookedUp]


class PlanDrafted(plans.Drafted):
    pass


class MessageShown(Shape):
    sequence: int
    direction: str
    kind: str
    text: str
    time: str
    step: int | None


class DecisionWanted(Shape):
    """What the operator signs to let a plan do more: the record's type, and what it says."""

    type: str
    content: dict[str, Any]


class GrantShown(Shape):
    kind: str
    value: str
    added_at: str


class GrantPage(Page[GrantShown]):
    sequence: int = Field(description="the record that changed the list last, or 0")


class GrantContent(Shape):
    """What the operator signs to add a grant."""

    kind: str
    value: str
    level: str


class GrantChanged(Accepted):
    kind: str
    value: str


class ChangeBrief(changes.Brief):
    pass


class ChangeProposed(changes.Proposed):
    pass


class FindingsAndEvidence(Growing):
    id: str
    commit: str
    findings: list[dict[str, Any]] | None
    evidence: dict[str, Any]


class ResearchCited(Shape):
    """The research that a change names, with its citations as they stand now."""

    id: str
    question: str
    narrative: str
    findings: list[research.FindingAnswer]
    more: int
    unsupported: int
    remark: str


class ChangeShown(FindingsAndEvidence):
    state: str
    branch: str
    reason: str
    created_at: str
    proposed_by: str
    files: list[dict[str, Any]]
    diff: dict[str, Any]
    tests: str | None
    approval_id: str | None
    round: int
    base: str
    target_branch: str
    tests_touched: list[Any]
    dependencies: list[Any]
    superseded_by: str | None
    task_id: str | None
    correlation: str
    comments: list[dict[str, Any]]
    decision: dict[str, Any]
    next: str
    goal: str | None
    goal_text: str | None
    desire: str | None
    research: str | None
    research_session: ResearchCited | None
    contains_quarantined: list[str] = Field(
        description="the commits inside that failed in service and are in quarantine"
    )
    blocked: str | None


class DiffShown(Growing):
    id: str
    commit: str
    base: str
    diff: str


class OutputShown(Shape):
    text: str
    position: int = Field(description="where to go on reading")


class DryRunShown(Growing):
    """A rehearsal: where it waits for a signature, or how it ended."""

    id: str
    state: str
    transcript: list[str]


class LinesShown(Shape):
    """Lines of a file of a change; very long ones are cut."""

    id: str
    commit: str
    path: str
    side: Side
    start: int
    lines: list[str]
    total: int = Field(description="how many lines the file has")


class RemarkGiven(Shape):
    """What a reviewer says about one line, before (`old`) or after (`new`) the change."""

    path: str = Field(max_length=4096)
    side: Side = "new"
    line: int = Field(ge=1)
    text: str = Field(min_length=1, max_length=LONGEST_REMARK)


class LinesGiven(Shape):
    """What is said about lines of a change, and which commit of it was looked at."""

    remarks: list[RemarkGiven] = Field(default_factory=list[RemarkGiven], max_length=MOST_REMARKS)
    commit: str | None = Field(default=None, description="of the change that was seen")


class CommentGiven(LinesGiven):
    text: str = ""
    request_changes: bool = False


class RejectionGiven(LinesGiven):
    reason: str


# Releases and deployments


class ReleaseShown(Shape):
    id: str
    commit: str
    digest: str
    state: str
    good: bool
    live: bool
    built_at: str
    files: int
    size: int
    settings: str
    quarantined: bool
    about: str = Field(default="", description="why the change that brought its commit was made")


class DeploymentShown(Shape):
    id: str
    kind: str
    state: str
    release: str
    commit: str
    approved: str
    replaced: str | None
    backup: str | None
    reason: str
    rollback_to: str | None
    requested_by: str
    requested_at: str
    changed_at: str
    correlation: str
    output: str
    cut: int
    keep_state: bool
    open: bool
    about: str = Field(default="", description="why the change that brought its commit was made")
    rollback_about: str = Field(
        default="", description="why the change was made that serves again, where it was taken back"
    )
    revert: str | None = Field(
        default=None, description="the change taken out of service that the branch still holds"
    )
    instances: dict[str, str] = Field(
        default_factory=dict[str, str], description="on a fleet: every instance and its state"
    )


class FleetInstance(Shape):
    instance: str
    release: str = Field(description="what its worker last proved")
    state: str
    since: str
    wave: int | None
    attempt: int
    epoch: int = Field(description="the term of its worker's lease when it proved that")
    machine: str
    reason: str
    present: bool = Field(description="its worker holds the lease of the instance now")


class FleetRollout(Shape):
    deployment: str
    release: str
    recorded: str | None = Field(description="what every instance goes back to")
    phase: str
    wave: int
    waves: list[list[str]]
    reason: str
    instances: dict[str, str]


class FleetShown(Shape):
    """The instances of `[deploy.fleet]`, and the newest rollout."""

    on: bool
    items: list[FleetInstance]
    rollout: FleetRollout | None


class DeployOrder(Growing):
    """What a deployment would take, and what is known about it."""

    commit: str
    digest: str
    allowed: bool
    tests_passed: bool
    human_approval_required: bool
    stale: bool
    live: str = Field(description="the live release, if it is this commit with these settings")
    quarantined: str = Field(description="why its commit is in quarantine, or empty")
    contains: list[str] = Field(
        description="commits below it that failed in service and that it does not undo"
    )
    to_revert: list[str] = Field(
        default_factory=list[str], description="the changes that brought what failed in service"
    )
    despite: list[str] = Field(description="those that the approval of its change accepted")
    waves: list[list[str]] = Field(
        default_factory=list[list[str]], description="the waves of the fleet that would get it"
    )
    approval_id: str
    change: str
    code: str
    reason: str


class RollbackContent(Shape):
    """What the operator signs to go back."""

    release: str
    serving: str
