"""Plans and the global allowlist over HTTP; what loosens carries the operator's signature."""

from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request

from astra.adapters.host_names import HostNames
from astra.bootstrap.runtime import Runtime
from astra.interfaces.daemon.models import ApprovalDetails, Page
from astra.interfaces.daemon.parameters import LARGEST_PAGE, Cursor, Limit, Off, ReadAs
from astra.interfaces.daemon.tool_routes import run_tool
from astra.interfaces.daemon.work_models import (
    DecisionWanted,
    GrantChanged,
    GrantContent,
    GrantPage,
    HostsLookedUp,
    MessageShown,
    PlanBrief,
    PlanDrafted,
    PlanShown,
)
from astra.plans.host_lookup import HostLookup
from astra.tools.plans import DraftArguments
from astra.trusted.door.requests import caller
from astra.trusted.kernel import paging
from astra.trusted.policy.authority import Signed

Document = dict[str, Any]
Authority = Annotated[Document, Body(embed=True)]
Reason = Annotated[str, Body(embed=True)]
PlanHash = Annotated[str | None, Body(embed=True, description="of the plan that was seen")]
SeenStep = Annotated[int | None, Body(embed=True, description="that was seen waiting")]


def add(app: FastAPI, runtime: Runtime) -> None:
    _add_draft_routes(app, runtime)
    _add_decision_routes(app, runtime)
    _add_host_routes(app, runtime)
    _add_hold_routes(app, runtime)
    _add_signed_routes(app, runtime)
    _add_message_routes(app, runtime)
    _add_allowlist_routes(app, runtime)


def _add_draft_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/agents", response_model=PlanDrafted)
    def draft_plan(
        request: Request,
        fields: Annotated[Document, Body(), ReadAs(DraftArguments)],
        astra_off: Off = "",
    ) -> Document:
        return run_tool(runtime, request, "astra.plans.draft", fields, off=astra_off)

    @app.get("/api/agents", response_model=Page[PlanBrief])
    def list_plans(
        request: Request,
        state: Annotated[str | None, Query()] = None,
        limit: Annotated[int, Query(ge=1, le=paging.LARGEST_PAGE)] = 50,
        cursor: Annotated[int | None, Query()] = None,
    ) -> Document:
        arguments = {"state": state, "limit": limit, "cursor": cursor}
        return run_tool(runtime, request, "astra.plans.list", arguments, off="")

    @app.get("/api/agents/waiting", response_model=Page[PlanBrief])
    def list_waiting_plans() -> Document:
        """List the plans that stand still until a person answers; for looking, not as a tool."""
        waiting_plans = runtime.planning.register.list_waiting_plans()
        return {"items": [plan.summarise() for plan in waiting_plans], "next": None}

    @app.get("/api/agents/{identifier}", response_model=PlanShown)
    def show_plan(request: Request, identifier: str) -> Document:
        return run_tool(runtime, request, "astra.plans.get", {"id": identifier}, off="")

    @app.post("/api/agents/{identifier}/answers", response_model=PlanDrafted)
    def answer(
        request: Request,
        identifier: str,
        answer: Annotated[str, Body(embed=True)],
        astra_off: Off = "",
    ) -> Document:
        arguments = {"id": identifier, "answer": answer}
        return run_tool(runtime, request, "astra.plans.answer", arguments, off=astra_off)


def _add_decision_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.post("/api/agents/{identifier}/approval", response_model=ApprovalDetails)
    def ask_for_approval(identifier: str) -> Document:
        """Name the approval of exactly what would run now, asking for it where none waits."""
        return runtime.desk.details(runtime.planning.plans.ask(identifier))

    @app.post("/api/agents/{identifier}/approve", response_model=PlanShown)
    def approve_plan(
        identifier: str,
        approval: Annotated[str, Body()],
        authority: Authority,
        plan_hash: PlanHash = None,
    ) -> Document:
        plans = runtime.planning.plans
        plans.refuse_if_moved(plans.register.get(identifier), plan_hash)
        runtime.desk.grant(approval, Signed.read(authority))
        runtime.planning.plans.fulfil(approval)
        runtime.planning.exports.export(identifier)
        return runtime.planning.views.show_plan(identifier)

    @app.post("/api/agents/{identifier}/reject", response_model=PlanShown)
    def reject_plan(
        request: Request,
        identifier: str,
        reason: Annotated[str, Body(embed=True)],
        plan_hash: PlanHash = None,
    ) -> Document:
        actor = caller(request)
        runtime.planning.plans.reject(identifier, reason, actor=actor, seen=plan_hash)
        return runtime.planning.views.show_plan(identifier)

    @app.post("/api/agents/{identifier}/revise", response_model=PlanShown)
    def revise_plan(
        request: Request,
        identifier: str,
        edits: Annotated[list[Document], Body()],
        plan_hash: PlanHash = None,
    ) -> Document:
        actor = caller(request)
        runtime.planning.plans.revise(identifier, edits, actor=actor, seen=plan_hash)
        return runtime.planning.views.show_plan(identifier)


def _add_host_routes(app: FastAPI, runtime: Runtime) -> None:
    names = HostNames()

    @app.post("/api/agents/{identifier}/hosts", response_model=HostsLookedUp)
    def look_up_hosts(request: Request, identifier: str) -> Document:
        """Ask the name server which hosts of a plan exist; it sees the names."""
        lookup = HostLookup(register=runtime.planning.register, resolve=names.resolve)
        return {"items": lookup.look_up(identifier, actor=caller(request))}


def _add_hold_routes(app: FastAPI, runtime: Runtime) -> None:
    """Add what needs no signature: it can only make a plan do less."""

    @app.post("/api/agents/{identifier}/pause", response_model=PlanShown)
    def pause_plan(request: Request, identifier: str, reason: Reason = "") -> Document:
        runtime.running.control.pause(identifier, actor=caller(request), reason=reason)
        return runtime.planning.views.show_plan(identifier)

    @app.post("/api/agents/{identifier}/abort", response_model=PlanShown)
    def abort_plan(request: Request, identifier: str, reason: Reason = "") -> Document:
        runtime.running.control.abort(identifier, actor=caller(request), reason=reason)
        return runtime.planning.views.show_plan(identifier)

    @app.post("/api/agents/{identifier}/skip", response_model=PlanShown)
    def skip_action(
        request: Request,
        identifier: str,
        reason: Reason = "",
        step: SeenStep = None,
    ) -> Document:
        actor = caller(request)
        runtime.running.control.skip(identifier, actor=actor, reason=reason, seen=step)
        return runtime.planning.views.show_plan(identifier)


def _add_signed_routes(app: FastAPI, runtime: Runtime) -> None:
    """Add what the operator signs; `decision` gives the words to sign."""

    @app.get("/api/agents/{identifier}/decision", response_model=DecisionWanted)
    def wanted_decision(
        identifier: str,
        action: Annotated[str, Query()],
        *,
        once: Annotated[bool, Query()] = False,
        steps: Annotated[int, Query(ge=0)] = 0,
        step: Annotated[int | None, Query(description="that was seen waiting")] = None,
    ) -> Document:
        describe_decision = runtime.running.control.describe_decision
        return describe_decision(identifier, action, once=once, steps=steps, seen=step)

    @app.post("/api/agents/{identifier}/resume", response_model=PlanShown)
    def resume_plan(identifier: str, authority: Authority, step: SeenStep = None) -> Document:
        runtime.running.control.decide(identifier, "resume", Signed.read(authority), seen=step)
        return runtime.planning.views.show_plan(identifier)

    @app.post("/api/agents/{identifier}/grant", response_model=PlanShown)
    def grant_more(
        identifier: str,
        authority: Authority,
        *,
        once: Annotated[bool, Body()] = False,
        step: SeenStep = None,
    ) -> Document:
        operator_signature = Signed.read(authority)
        runtime.running.control.decide(
            identifier, "grant", operator_signature, once=once, seen=step
        )
        runtime.planning.exports.export(identifier)
        return runtime.planning.views.show_plan(identifier)

    @app.post("/api/agents/{identifier}/retry", response_model=PlanShown)
    def retry_step(identifier: str, authority: Authority, step: SeenStep = None) -> Document:
        """Run the last step once more, as it was decided, and let the plan go on."""
        runtime.running.control.decide(identifier, "retry", Signed.read(authority), seen=step)
        return runtime.planning.views.show_plan(identifier)

    @app.post("/api/agents/{identifier}/extend_budget", response_model=PlanShown)
    def extend_budget(
        identifier: str,
        authority: Authority,
        steps: Annotated[int, Body()],
        step: SeenStep = None,
    ) -> Document:
        operator_signature = Signed.read(authority)
        runtime.running.control.decide(
            identifier, "extend_budget", operator_signature, steps=steps, seen=step
        )
        return runtime.planning.views.show_plan(identifier)


def _add_message_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/agents/{identifier}/messages", response_model=Page[MessageShown])
    def list_messages(
        identifier: str, limit: Limit = LARGEST_PAGE, cursor: Cursor = None
    ) -> Document:
        register = runtime.planning.register
        register.get(identifier)
        messages = register.messages(identifier, after=cursor or 0, limit=limit + 1)
        following = messages[limit - 1].sequence if len(messages) > limit else None
        return {"items": [message.as_dict() for message in messages[:limit]], "next": following}

    @app.post("/api/agents/{identifier}/messages", response_model=PlanShown)
    def tell_plan(
        request: Request, identifier: str, text: Annotated[str, Body(embed=True)]
    ) -> Document:
        runtime.running.control.message(identifier, text, actor=caller(request))
        return runtime.planning.views.show_plan(identifier)

    @app.post("/api/agents/{identifier}/silence", response_model=PlanShown)
    def silence_plan(
        request: Request, identifier: str, *, on: Annotated[bool, Body(embed=True)] = True
    ) -> Document:
        runtime.running.control.silence(identifier, on=on, actor=caller(request))
        return runtime.planning.views.show_plan(identifier)


def _add_allowlist_routes(app: FastAPI, runtime: Runtime) -> None:
    @app.get("/api/agent_global_grants", response_model=GrantPage)
    def list_grants() -> Document:
        allowlist = runtime.planning.allowlist
        return {"sequence": allowlist.newest(), "items": allowlist.list_grants(), "next": None}

    @app.get("/api/agent_global_grants/content", response_model=GrantContent)
    def spelled_grant(kind: Annotated[str, Query()], value: Annotated[str, Query()]) -> Document:
        """Give what the operator would sign: the grant in its one spelling."""
        return runtime.planning.allowlist.content(kind, value)

    @app.post("/api/agent_global_grants", response_model=GrantChanged)
    def add_grant(
        kind: Annotated[str, Body()],
        value: Annotated[str, Body()],
        authority: Authority,
        seen: Annotated[int | None, Body(description="`sequence` of the list")] = None,
    ) -> Document:
        record = runtime.planning.allowlist.add(kind, value, Signed.read(authority), seen=seen)
        return {"kind": kind, "value": record.data["value"], "sequence": record.sequence}

    @app.delete("/api/agent_global_grants", response_model=GrantChanged)
    def remove_grant(
        request: Request, kind: Annotated[str, Query()], value: Annotated[str, Query()]
    ) -> Document:
        record = runtime.planning.allowlist.remove(kind, value, actor=caller(request))
        return {"kind": kind, "value": value, "sequence": record.sequence}
