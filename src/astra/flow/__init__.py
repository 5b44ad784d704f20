"""What happens next is derived, not remembered: this table, and a projection of it.

Each row says: while an entity is in this state, this step falls due at this time. The projection
keeps the due steps of every entity as of the ledger's head; the daemon runs what is due. Rebuild
the index and the list is the same; there is no queue to lose and no cursor to corrupt. Steps check
before they act, so running one twice does nothing.

| entity    | while                | step               | due                                 |
|-----------|----------------------|--------------------|-------------------------------------|
| approval  | pending              | announce-1, -2, -3 | 1, 6 and 20 hours after the request |
| approval  | pending              | expire             | at its expiry                       |
| approval  | approved             | expire             | at its expiry                       |
| schedule  | approved             | export-token       | at once                             |
| promotion | approved             | create-goal        | at once                             |
| desires   | one is above 0.1     | survey             | at the next full hour, then when    |
|           |                      |                    | the survey before says (hourly)     |
| change    | proposed, or renewed | scan               | at once                             |
| change    | scanned              | test               | at once                             |
| change    | tested, or stale     | ask                | at once                             |
| change    | granted              | execute            | at once                             |
| change    | approved             | merge              | at once                             |
| change    | rejected             | close              | at once                             |
| change    | merged, with deploy  | deploy             | at once                             |
| change    | its release taken    | record-rollback    | at once                             |
|           | back                 |                    |                                     |
| plan      | awaiting_approval    | ask-approval       | at once                             |
| plan's    | approved             | approve-plan       | at once                             |
| approval  | rejected             | reject-plan        | at once                             |
| plan      | granted (more)       | export-plan        | at once                             |
| allowlist | changed              | export-allowlist   | at once                             |

A promotion and a schedule are approvals of their kind, and so is a plan's. Their own step is there
from the request on, without a time, and gets one when the operator approves.

A step of a change may take minutes, so those have a lane of their own, with several workers
(`bootstrap.step_runner`); nothing else waits for them. `execute` belongs to the change's approval.
What falls due is said by one module for each domain (`of_approvals`, `of_desires`, `of_changes`,
`of_plans`); what a step does, by `steps`.

A deployment's state is its next step as well: `deployments.work` has the table, and the deployer's
thread runs it, because building and watching take longer than other steps may wait.

Schedules are due by rows of their own (`schedules.projection`): what is due among a million is an
index range, and claiming one is an append. The executor, not the step runner, looks at those. Plans
that work are due by their own rows, too (`plans.projection`); the plans' runner looks at those.
"""

from astra.flow.due import CHANGES, QUICK, TEST, DueStep, due_steps, next_due
from astra.flow.projection import PROJECTION
from astra.flow.steps import ChangeWork, Domains, for_changes, for_domains

__all__ = [
    "CHANGES",
    "PROJECTION",
    "QUICK",
    "TEST",
    "ChangeWork",
    "Domains",
    "DueStep",
    "due_steps",
    "for_changes",
    "for_domains",
    "next_due",
]
