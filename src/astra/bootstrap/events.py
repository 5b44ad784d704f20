"""Every event that Astra records: its name, and what happened when it is in the ledger.

An event that some module appends and this list does not name fails a test, and so does a name here
that nothing appends.

>>> EVENTS["flag_set"]
'a flag was turned off by anyone, or on by the operator, who signed it'
"""

from collections.abc import Mapping
from types import MappingProxyType

from astra.adapters import environment_store
from astra.adapters.boxes import clone_following, sandbox
from astra.adapters.servers import hosting
from astra.adapters.supervisor import app_egress
from astra.beliefs import events as beliefs
from astra.changes import dry_run, readiness
from astra.deployments import events as deployments
from astra.deployments.fleet import events as fleet
from astra.desires import idle
from astra.desires import views as desires
from astra.goals import events as goals
from astra.notifications import devices, outbox, trying
from astra.operations import alert_book, smoke
from astra.persona import conversations
from astra.plans import events as plans
from astra.plans.code import memory as edit_formats
from astra.research import events as research
from astra.schedules import events as schedules
from astra.schedules import tokens
from astra.spend import projection as spend
from astra.trusted.approvals import desk
from astra.trusted.changes import events as changed
from astra.trusted.changes import merge_permissions, tasks
from astra.trusted.changes import model as changes
from astra.trusted.ledger import formats, remainder, timekeeping
from astra.trusted.policy import (
    access,
    authority,
    budgets,
    confinement,
    contract,
    cosigning,
    flags,
    operators,
    passkeys,
    permissions,
    stopping,
    telemetry,
)
from astra.trusted.servers import acceptance
from astra.trusted.stop import reaching
from astra.trusted.upstream import sync
from astra.workers import events as workers

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        authority.ROOT_CREATED: "a data root was made; names its keys, its target and its folders",
        authority.KEY_ROTATED: "a new operator key was introduced, signed by the old or the"
        " recovery key",
        operators.ENROLLED: "operators signed that somebody is an operator: name, key, role",
        operators.REMOVED: "operators signed that somebody is an operator no longer; what they"
        " signed before stays",
        operators.ROLE_SET: "operators signed what an operator may sign from here on",
        operators.USERS_SET: "operators signed which OS users are an operator at a terminal",
        operators.RULES_SET: "operators signed how many signatures something takes, and whether"
        " who asked may approve",
        cosigning.GIVEN: "an operator signed a decision that takes more signatures than that",
        authority.RESTORED: "the operator signed that this data root goes on from an older state;"
        " open approvals, tokens and sessions are void from here on, and all work is stopped",
        formats.FORMAT_RAISED: "a version of Astra that writes a higher format opened the root;"
        " older ones refuse it from here on, and say which to use",
        contract.CONFIG_SIGNED: "the operator signed `astra.toml`; the text in the record counts",
        flags.FLAG_SET: "a flag was turned off by anyone, or on by the operator, who signed it",
        remainder.ARCHIVED: "the operator signed which months of the chain lie in an archive, and"
        " what stays of each",
        timekeeping.CLOCK_ACCEPTED: "the operator signed that the clock is right and the ledger's"
        " time was not; time goes back to it, and what was given for a time is over",
        access.SESSION_OPENED: "a person opened a session in a browser, by a one-time link or a"
        " passkey",
        access.SESSION_CLOSED: "that session was ended before its time",
        access.TOKEN_CREATED: "the operator made a token for a program, with a role, and signed it",
        access.TOKEN_REVOKED: "a token was taken back",
        passkeys.ENROLLED: "a passkey may decide in the operator's name, whose key signed it",
        passkeys.REVOKED: "a passkey was revoked; what it decided before stays",
        budgets.BUDGET_SPENT: "a start was counted against a budget of its day",
        budgets.BUDGET_RETURNED: "what a refused call had spent was given back to its budget",
        spend.RESERVED: "the most that a model call can take was counted before it was made",
        spend.SETTLED: "what that call took, by what its server reported; or all that was reserved,"
        " with the reason why that is uncertain",
        spend.REACHED: "a model call for a plan or a goal would have passed a cap on tokens or"
        " money, and was not made",
        spend.RAISED: "the operator signed for a higher cap, for one day, actor, goal or plan",
        permissions.ADDED: "the operator signed a standing permission: a tool, a host, a method, a"
        " number of calls and an end",
        permissions.USED: "a call was covered by a standing permission, and counted",
        permissions.REMOVED: "a standing permission was taken back",
        merge_permissions.ADDED: "the operator signed a standing permission for changes: paths,"
        " conditions, a number of uses and an end",
        merge_permissions.USED: "a change was approved by a standing permission, and counted",
        merge_permissions.REMOVED: "a standing permission for changes was taken back",
        telemetry.TOOL_CALLED: "a tool that only reads was called; how it went",
        telemetry.TOOL_REFUSED: "a call was refused or has to wait; with the reason",
        telemetry.REFUSALS_COUNTED: "how often an actor was refused besides, in about a"
        " minute, for a reason that has a record already",
        telemetry.TOOL_STARTED: "a call with an effect was allowed and began",
        telemetry.TOOL_FINISHED: "that call ended; how it went",
        telemetry.TOOL_INTERRUPTED: "that call was cut off by a crash; how far it came is unknown",
        desk.REQUESTED: "somebody asked for a person's decision on exactly this content",
        desk.GRANTED: "the operator approved it, once, with a signature over its digest",
        desk.REJECTED: "it was rejected, with a reason",
        desk.EXPIRED: "nobody decided, or nobody used it, in time",
        desk.USED: "an approval was used up by the call it was for",
        desk.STALE: "an approval was withdrawn because its content is not the same any more",
        desk.ANNOUNCED: "a request that still waits was announced again",
        conversations.ASKED: "a person said something to the persona: the digest of its words",
        conversations.ANSWERED: "the persona's answer is over: digest of its words, calls, end",
        conversations.DELETED: "a conversation was deleted: its texts are gone, its records stay",
        conversations.SILENCED: "no project is suggested in that conversation any more",
        schedules.CREATED: "a schedule was made; its next run",
        schedules.MODIFIED: "fields of a schedule were changed; the record has all of them",
        schedules.DELETED: "a schedule was deleted: it runs no more; its records stay",
        schedules.PAUSED: "a schedule was paused: nothing of it runs until it is resumed",
        schedules.RESUMED: "a paused schedule runs again, from its next firing on",
        schedules.CLAIMED: "a firing, or another attempt at it, was claimed to be run, once",
        schedules.HELD: "a firing waits: for the one before it, or for what it depends on",
        schedules.SKIPPED: "a firing does not happen, and why",
        schedules.MISSED: "firings passed while no daemon was there to run them; how many",
        schedules.RETRIED: "an attempt at a firing failed and another follows; when",
        schedules.CLOSED: "a firing is over: its outcome, the reason and how long it took",
        schedules.GAVE_UP: "the last attempt at a firing failed too",
        schedules.ADJUSTED: "a schedule slowed down after failures, or is back to normal",
        schedules.NOTICED: "something about a schedule that a person should hear of",
        schedules.JOBS_SET_ASIDE: "the job database could not be opened; it was renamed and made"
        " anew, and open firings are submitted again",
        outbox.SENT: "a notification was taken by a channel; the channel's name, never its address",
        outbox.FAILED: "a channel did not take a notification; which attempt that was",
        trying.TESTED: "an operator tried a channel with a test message; whether it was taken",
        devices.SUBSCRIBED: "a browser is told by push from now on: whose it is, and until when",
        devices.FORGOTTEN: "a device is not told any more, and why",
        tokens.EXPORTED: "an operator's approval of a firing was written to its token file",
        tokens.REFUSED: "a token file did not fit the ledger: forged, edited, expired, taken away",
        desires.RECORDED: "somebody wants something; with its strength, tags and context",
        desires.REINFORCED: "it is wanted again: its strength was raised, and fades from there",
        desires.PRUNED: "what had faded below the threshold was put away",
        desires.HALF_LIFE_SET: "from here on, desires fade with this half-life",
        desires.PROMOTED: "the operator made a goal of a desire",
        desires.CLOSED: "the goal of a desire is over: it is fulfilled, or given up",
        desires.REOPENED: "the goal of a desire was reopened, so it is wanted again",
        idle.SURVEYED: "the idle policy noted what is wanted most in this hour",
        research.STARTED: "a research session was asked for; has its question, limits and commit",
        research.TASK_FINISHED: "one search of a research session is over; has its findings with"
        " their citations, and how many claims had no quote that was found",
        research.RESUMED: "a research session that a dead daemon left goes on",
        research.FINISHED: "a research session is over; has its narrative, order and coverage",
        goals.CREATED: "there is a new goal; says where it came from",
        goals.PLANNED: "a proposed goal was decomposed by methods; has the graph of its tasks",
        goals.PLANNING_FAILED: "no method fits a proposed goal, and why",
        goals.DECOMPOSITION_ASKED: "a model is asked how to decompose a goal that no method fits",
        goals.ADOPTED: "the operator's signature adopted a goal with its graph and its budgets",
        goals.STARTED: "the tasks of an adopted goal may run from here on",
        goals.HELD: "nothing of a goal begins until it is resumed or retried, and why",
        goals.RESUMED: "a goal that was held goes on; with an approval that renewed its budget",
        goals.RETRIED: "tasks of a goal, and those behind them, begin anew",
        goals.SATISFIED: "the success criteria of a goal ran and held, or the operator closed it",
        goals.ABANDONED: "a goal was given up, with a reason; nothing of it begins any more",
        goals.REOPENED: "a goal that was over is proposed again; it is planned and adopted anew",
        goals.TASK_CLAIMED: "a task of a goal was claimed by this daemon and begins",
        goals.TASK_WAITED: "a task of a goal waits for a decision, a merge or a plan's end",
        goals.TASK_RETRIED: "an attempt at a task of a goal failed; when it is tried again",
        goals.TASK_FINISHED: "a task of a goal is over: succeeded, failed or skipped, with what it"
        " gave",
        beliefs.PROPOSED: "somebody said what they think is so; it has no weight",
        beliefs.SHIFTED: "outcomes moved a belief: it is held, doubted or open now; its numbers",
        beliefs.DEPRECATED: "an operator put a belief away; it begins anew with the next outcome",
        tasks.CREATED: "there is a task; it is on disk before anything of it runs",
        tasks.ENABLED: "an operator's approval enabled a task, which runs it",
        tasks.DISABLED: "a task waits for an approval again, and why",
        tasks.FINISHED: "a task is over, and how it went",
        changes.SCHEDULED: "a change was admitted and committed on a branch of its own",
        changes.SCANNED: "the text of a change was looked at; what was found",
        changes.TESTS_STARTED: "a run of the target's tests on a change began",
        changes.TESTS_PASSED: "that run passed; its report",
        changes.TESTS_FAILED: "that run did not pass; its report",
        changes.TESTS_COMPLETED: "every run on a change is over; what they say together",
        changes.REBASED: "a change was carried over to a base that moved; a new round began",
        changes.CONFLICTED: "a change does not fit the base any more, and goes back to the agent",
        changes.RENEWED: "somebody wants the evidence for a change gathered again",
        changes.COMMENTED: "somebody said something about a change",
        changes.RETURNED: "the tests of a change did not pass, so it went back to the agent with"
        " the failures and nobody was asked",
        changes.REVISION_REQUESTED: "a reviewer sent a change back, and why",
        changes.SUPERSEDED: "a change was replaced by a revision",
        changes.WITHDRAWN: "a change was turned down before anybody was asked to approve it",
        changes.APPROVED: "an approval was found to hold for exactly this change, and used up",
        changes.REJECTED: "a change was rejected, with a reason",
        changes.EXECUTED: "the target's branch moved to the approved commit",
        changes.ROLLED_BACK: "what a change brought was taken back",
        changes.RESTORED: "what a change brought serves again, and in which release",
        changed.STEP_FAILED: "a step of a change failed and is tried again; why",
        plans.REQUESTED: "somebody described a project; a model is to draft a plan for it",
        plans.QUESTIONED: "the description was not clear; what was asked back",
        plans.ANSWERED: "those questions were answered",
        plans.DRAFTING_RETRIED: "a model did not answer, or its plan did not hold; when it is"
        " asked again",
        plans.FAILED: "no plan came of a description, and why",
        plans.DRAFTED: "there is a plan; its hash, its manifest and its size",
        plans.REVISED: "a plan was edited: it has a new hash and needs a new approval",
        plans.APPROVED: "the operator approved exactly this plan with exactly these grants",
        plans.REJECTED: "the operator rejected a plan, with a reason",
        plans.FILES_EXPORTED: "a plan's contract was written to its files",
        plans.GLOBAL_GRANT_ADDED: "the operator granted something to every plan that asks for it",
        plans.GLOBAL_GRANT_REMOVED: "such a grant was taken back",
        plans.ALLOWLIST_EXPORTED: "the global allowlist was written to its file",
        plans.ALLOWLIST_TAMPERED: "somebody changed that file; it was written anew",
        plans.HOSTS_LOOKED_UP: "an operator asked the name server which hosts of a plan exist",
        plans.STARTED: "the runner began with an approved plan",
        plans.CHECKPOINT_STARTED: "a plan began a checkpoint",
        plans.CHECKPOINT_COMPLETED: "a checkpoint is done; what came of it",
        plans.STEP_STARTED: "a step was counted against a checkpoint's budget",
        plans.STEP_DECIDED: "what the model wants to do next, and what that is judged to be",
        plans.ACTION_STARTED: "an action with an effect is about to begin, at most once",
        plans.STEP_FINISHED: "how that step went",
        plans.MODEL_FAILED: "a model did not answer, or not in the form; when it is asked again",
        plans.OVERRAN: "a plan has run twice as long as it was estimated",
        plans.BLOCKED_ON_PERMISSION: "a plan wants what it was not granted; the narrowest grant",
        plans.BLOCKED_ON_DESTRUCTIVE: "a destructive step waits to be confirmed, just this once",
        plans.BLOCKED_ON_BUDGET: "a checkpoint's step budget is spent",
        plans.BLOCKED_ON_LLM: "the model did not answer, or with nothing that is an action,"
        " however often it was asked",
        plans.PERMISSION_GRANTED: "the operator granted a running plan more, once or for good",
        plans.ACTION_CONFIRMED: "the operator confirmed one destructive step",
        plans.ACTION_SKIPPED: "the operator skipped an action",
        plans.BUDGET_EXTENDED: "the operator gave a checkpoint more steps",
        plans.STEP_RETRIED: "the operator let a step that failed or was cut off run once more",
        plans.PAUSED: "a plan was paused",
        plans.RESUMED: "a plan goes on",
        plans.COMPLETED: "a plan is done",
        plans.ABORTED: "a plan was ended before it was done, and why",
        plans.MESSAGE_SENT: "a plan told people something",
        plans.MESSAGE_RECEIVED: "somebody told a plan something; its next step reads it",
        plans.CODER_CALLED: "the coder was handed instructions; counts as a step",
        plans.USAGE_COUNTED: "a model's answer was paid for beside a step: the coder's, or one that"
        " came too late",
        edit_formats.EDIT_TRIED: "whether a model's code could be used in the format it was asked"
        " for; the next is asked for in what worked",
        plans.SILENCED: "notifications of a plan were turned off or on again",
        plans.NOTIFIED: "the messages of a minute were announced together",
        hosting.STARTED: "another MCP server was started in its box, or reached at its address",
        hosting.FAILED: "another MCP server could not be started or reached; says why",
        acceptance.LISTED: "the tool list of another MCP server, looked at, differs from the look"
        " before; a digest for each tool",
        acceptance.ACCEPTED: "the operator signed for the tools of another MCP server, word for"
        " word as they are shown to models",
        acceptance.CHANGED: "a finding: tools of another MCP server are not what the operator"
        " signed for any more; they rest",
        sandbox.EGRESS_OPENED: "a box is about to be let through to a host; how it went follows",
        sandbox.SECRET_ADDED: "the egress proxy added a named secret to a request for a host"
        " that it is for; never its value",
        sandbox.EGRESS_ATTEMPTED: "a box tried to reach a host; whether it was let through, and"
        " how much passed, written when the connection is over",
        app_egress.RECORDED: "the hosts a confined app connected to or was kept from, summed up"
        " since the last such record",
        deployments.ORDERED: "the operator ordered a commit to be deployed, with a signature",
        deployments.ROLLBACK_ORDERED: "the operator ordered another release back, with a signature",
        deployments.REQUESTED: "a deployment or a rollback began; its commit and its release",
        deployments.DECLINED: "an approved change could not be deployed by itself, and why",
        deployments.BUILT: "a release was made from its commit and sealed; its digest",
        deployments.REHEARSED: "a release ran well on its own in staging before it was started",
        deployments.STATE_SAVED: "the app's state folder was saved before a release changes it",
        deployments.BEFORE_START_BEGUN: "before_start of a release began, with nothing running",
        deployments.BEFORE_START_FINISHED: "before_start of a release ended; whether it went well",
        deployments.STATE_RESTORED: "the app's state from before a release was put back",
        deployments.RELOAD_BEGUN: "the running app was asked to take a release's code over",
        deployments.SWITCHED: "a healthy release was given the app's port; what it replaced",
        deployments.RETIRED: "a replaced release was drained and ended; how that went",
        deployments.SETTLED: "a release stayed healthy for the whole watch and counts as good",
        deployments.FAILED: "a release did not come up, or failed its watch; why, and what it said",
        deployments.CHANGES_SEEN: "which changes the live release took out of service or put back",
        deployments.ROLLED_BACK: "a good release serves again in place of a failed one",
        deployments.ROLLBACK_FAILED: "no good release could be brought back; a person has to look",
        deployments.QUARANTINED: "a commit failed in service and is not deployed again by itself",
        deployments.RESTARTED: "the app was not running and was started again",
        deployments.NOT_SERVING: "the app is to run and cannot be started; why",
        sync.MERGED: "commits of the upstream came into the target's branch; by whose word",
        clone_following.FOLLOWED: "the agent's clone got new commits; whether its branch moved",
        deployments.PUSHED: "the commit of a settled release was pushed to the operator's remote",
        deployments.PUSH_FAILED: "it was not pushed; why. The deployment stands",
        deployments.REMOVED: "a release beyond the number to keep was removed",
        environment_store.REMOVED: "an environment that nothing used was removed by the operator",
        fleet.ROLLOUT_BEGUN: "a release began to go out to a fleet; its waves and their rules",
        fleet.WAVE_BEGUN: "a wave of a fleet began; which instances are in it",
        fleet.WAVE_FINISHED: "every instance of a wave was released or passed over; it is watched",
        fleet.INSTANCE_ORDERED: "an instance of a fleet is to bring a release up and to prove it",
        fleet.INSTANCE_PASSED_OVER: "an instance was away when its wave went; it follows later",
        fleet.INSTANCE_RELEASED: "an instance's worker proved a release: digest, health and epoch",
        fleet.INSTANCE_FAILED: "a release failed on an instance, or was not proven in time; why",
        readiness.MATRIX_RECORDED: "the operator signed what a run of the test matrix said, for"
        " this code and this target",
        readiness.SIGNED_OFF: "the operator signed a readiness report off",
        dry_run.APPROVED: "the operator rehearsed an approval, in a dry run, with a signature",
        dry_run.COMPLETED: "a dry run is over; how it went and where its transcript is",
        sandbox.BOX_ENDED: "a box ended; how, after how long, and what it had reached",
        confinement.ALLOWED: "the operator signed that agent code may run without a sandbox; it"
        " does only where the daemon's setting says so too",
        confinement.REVOKED: "that was taken back: agent code runs in the sandbox or not at all",
        alert_book.RAISED: "a value went beyond the number of an alert rule, for long enough",
        alert_book.REPEATED: "that alert lasts and was told again",
        alert_book.RESOLVED: "that alert is over, and why",
        alert_book.SILENCED: "the operator signed that an alert rule is told to nobody until then",
        alert_book.UNSILENCED: "that silence was ended before its time",
        smoke.STARTED: "a quick check of the running server began",
        smoke.FINISHED: "that check is over; each part with its outcome and how long it took",
        stopping.STOPPED: "everything the agent ran was ended; what was found and what survived",
        workers.JOINED: "a worker joined the machines of a chain; says what it can do, and what its"
        " preflight found",
        workers.CHECKED: "the preflight of a worker found something else than before",
        workers.DRAINING: "a worker takes no more jobs, and leaves when those it has are over",
        workers.LEFT: "a worker gave its lease back and left",
        workers.OFFERED: "the leader offered a job to the workers that can do it",
        workers.CLAIMED: "a worker took a job, under the lease that it held then",
        workers.MOVED: "a job was offered once more: its worker was lost with it, or too slow",
        workers.ENDED: "a job is over: done with a result, failed, or interrupted",
        workers.WITHDRAWN: "the leader took a job back, and does it itself or needs it no more",
        reaching.REACHED: "a machine that shares the chain carried a stop out, and what it ended",
        stopping.STARTED: "the operator let work start again, with a signature",
        "ledger_tail_set_aside": "a crash tore the end of a segment; it was moved out of the chain,"
        " whole, to `var/set-aside`",
    }
)
