"""What happens next is derived, not remembered: two tables, and one loop that runs what is due.

There is no queue to lose and no cursor to corrupt: what is due follows from the ledger, and steps
check before they act, so running one twice does nothing. The loop (`background`) does the same for
every lane: due → claimed → run → recorded, with a pause that grows after each failure, one worker
at a time for each entity, and trouble that the status shows. It wakes when the ledger moved, when
something ended, or when the next thing falls due.

| lane          | what is due in it                       | at once | closed while            |
|---------------|-----------------------------------------|---------|-------------------------|
| quick         | the steps below but those of changes    | 1       | the ledger is held      |
| changes       | the steps of changes below              | 4       | code writing is off, or |
|               |                                         |         | all work is stopped     |
| firings       | schedules whose next run has come;      | 8       | never: firings that may |
|               | retries and firings that waited enough; |         | not run are recorded as |
|               | what a dead daemon left                 |         | skipped, with the reason|
| jobs          | claimed firings of slow tools, until    | 1       | never                   |
|               | the engine for jobs has them            |         |                         |
| plans         | plans that can take a step              | setting | plans are off, or all   |
|               |                                         |         | work is stopped         |
| drafts        | plans that a model is to draft          | 2       | plans are off           |
| plan-files    | a look at files that plans exported     | 1       | never                   |
| announcements | messages of plans, a minute old         | 1       | never                   |
| goals         | adopted goals; tasks whose predecessors | 10      | the persona is off, or  |
|               | are over; what they wait for; what a    |         | all work is stopped     |
|               | dead daemon left; success criteria      |         |                         |
| research      | research sessions that a dead daemon    | 1       | the persona is off, or  |
|               | left open                               |         | all work is stopped     |
| deployments   | the step that the state of the open     | 1       | all work is stopped     |
|               | deployment asks for (`deployments.work` |         |                         |
|               | has that table); then a look at the     |         |                         |
|               | app, every second                       |         |                         |
| pushes        | the commit of the newest release that   | 1       | all work is stopped     |
|               | settled, until its push is over         |         |                         |
| app-egress    | what the app connected to, every five   | 1       | never                   |
|               | seconds                                 |         |                         |
| notifications | notices of the last hour that a channel | 1       | never                   |
|               | has not taken                           |         |                         |
| witness       | checkpoints that the witness does not   | 1       | never                   |
|               | have                                    |         |                         |
| stop          | a stop of another machine that is to be | 1       | never                   |
|               | carried out or let go of here           |         |                         |
| sync          | a look at the upstream, as often as the | 1       | all work is stopped     |
|               | signed configuration says               |         |                         |
| clone         | the agent's clone, until it has what    | 1       | all work is stopped, or |
|               | the trusted branch moved to             |         | the sandbox is off      |
| alerts        | a look at alert rules, every half       | 1       | never                   |
|               | minute                                  |         |                         |
| refusals      | a look for counts of refusals, every    | 1       | never                   |
|               | half minute                             |         |                         |
| beliefs       | beliefs that outcomes moved since the   | 1       | never                   |
|               | last look                               |         |                         |
| servers       | servers whose tools nobody looked at    | 4       | all work is stopped, or |
|               | since they were signed for; then a look |         | the ledger is held      |
|               | for those to be ended, every 5 seconds  |         |                         |
| traces        | records that the trace collector has    | 1       | never                   |
|               | not taken                               |         |                         |
| next-index    | a look for another version's files in   | 1       | never                   |
|               | place of this one's, every half minute  |         |                         |
| reaping       | jobs that a worker has, every second;   | 1       | never                   |
|               | only where machines share a chain       |         |                         |

Where several machines share a chain, a lane works on the one that holds its lease (`Lane.lease`):
most under one lease, deployments and pushes under that of the app; witness, clone, servers,
refusals, app-egress, next-index and stop work on each machine. What a lane appends carries the
epoch of the lease, and an append under one that is over is refused (`trusted.ledger.fencing`).

A firing and a task of a goal are claimed by an append that one process wins (`schedules.claims`,
`goals.running`); everything else is claimed by being in a worker's hand, because one process owns a
data root. Lanes are described in `lanes` and `firings`; whatever they run may take as long as it
takes, and no lane waits for another.

The steps of the lanes quick and changes are rows of the index, kept by a projection of this table.
Each row says: while an entity is in this state, this step falls due at this time. Rebuild the index
and the list is the same.

| entity    | while                | step               | due                                 |
|-----------|----------------------|--------------------|-------------------------------------|
| approval  | pending              | announce-1, -2, -3 | 1, 6 and 20 hours after the request |
| approval  | pending              | expire             | at its expiry                       |
| approval  | approved             | expire             | at its expiry                       |
| schedule  | approved             | export-token       | at once                             |
| promotion | approved             | create-goal        | at once                             |
| desire    | signed with its goal | adopt-desire       | at once                             |
| goal      | proposed, unplanned  | plan-goal          | at once                             |
| deploy-   | taken back           | propose-repair     | at once                             |
| ment      |                      |                    |                                     |
| goal      | planned, of a        | settle-repair      | at once                             |
|           | rollback             |                    |                                     |
| goal's    | approved             | adopt-goal         | at once                             |
| approval  |                      |                    |                                     |
| desires   | one is above 0.1     | survey             | at the next full hour, then when    |
|           |                      |                    | the survey before says (hourly)     |
| change    | proposed, or renewed | scan               | at once                             |
| change    | scanned              | test               | at once                             |
| change    | tested, or stale     | ask                | at once                             |
| change    | granted              | execute            | at once                             |
| change    | approved             | merge              | at once                             |
| change    | rejected             | close              | at once                             |
| change    | merged, with deploy  | deploy             | at once                             |
| release   | live, and changes    | record-service     | at once                             |
|           | went out or returned |                    |                                     |
| sync      | approved             | bring-in           | at once                             |
| plan      | awaiting_approval    | ask-approval       | at once                             |
| plan's    | approved             | approve-plan       | at once                             |
| approval  | rejected             | reject-plan        | at once                             |
| plan      | granted (more)       | export-plan        | at once                             |
| allowlist | changed              | export-allowlist   | at once                             |

A promotion and a schedule are approvals of their kind, and so is a plan's. Their own step is there
from the request on, without a time, and gets one when the operator approves.

`execute` belongs to the change's approval, and works on the change: no other step of that change
runs beside it. A `test` that runs while somebody decides on its change is cut short.

What falls due is said by one module for each domain (`of_approvals`, `of_desires`, `of_changes`,
`of_goals`, `of_plans`); what a step does, by `steps`. Schedules, plans and goals at work,
deployments and notifications are due by rows of their own domains, which the lanes ask for: what is
due among a million schedules is an index range.
"""

from astra.flow.background import Background
from astra.flow.due import CHANGES, QUICK, TEST, DueStep, due_steps, next_due
from astra.flow.firings import FIRINGS, JOBS, ClaimedFirings
from astra.flow.lane import Lane, WorkItem
from astra.flow.lanes import (
    ALERTS,
    ANNOUNCEMENTS,
    APP_EGRESS,
    DEPLOYMENTS,
    DRAFTS,
    GOALS,
    NOTIFICATIONS,
    OF_PLANS,
    PLAN_FILES,
    PLANS,
    WITNESS,
)
from astra.flow.projection import PROJECTION
from astra.flow.steps import ChangeWork, Domains, make_change_runner, make_domain_runner

__all__ = [
    "ALERTS",
    "ANNOUNCEMENTS",
    "APP_EGRESS",
    "CHANGES",
    "DEPLOYMENTS",
    "DRAFTS",
    "FIRINGS",
    "GOALS",
    "JOBS",
    "NOTIFICATIONS",
    "OF_PLANS",
    "PLANS",
    "PLAN_FILES",
    "PROJECTION",
    "QUICK",
    "TEST",
    "WITNESS",
    "Background",
    "ChangeWork",
    "ClaimedFirings",
    "Domains",
    "DueStep",
    "Lane",
    "WorkItem",
    "due_steps",
    "make_change_runner",
    "make_domain_runner",
    "next_due",
]
