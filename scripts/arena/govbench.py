"""AgentGovBench: who may call which tool, how often, and what the record says of it.

The set speaks of tenants and users; Astra of data roots. So each user of each tenant has a data
root of its own, whose signed configuration says what the set's policy says of that user: a tool
that the user may not call is not imported, a limit a minute is the server's limit a day. The tools
are an MCP server in a box that writes down each call it gets, and that journal says whether a call
was let through. What the set asks for and Astra does not have is declared, with the reason.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena import govbench_checks as checks
from arena.govbench_checks import Entry, Observed, Played
from arena.outcome import Outcome, Progress, SetReport
from arena.stopping import measure_stops
from arena.world import World, make_world
from astra.trusted.sandbox import machine, staging

NAME = "AgentGovBench"
_SERVER = Path(__file__).with_name("tool_server.py")
_SHORT_FAILURE = 5
_PAUSE_SECONDS = 3.0
_UNLIMITED = 100_000
_READER = """
import json, pathlib, sys, yaml
folder = pathlib.Path(sys.argv[1])
read = lambda path: yaml.safe_load(path.read_text())
fixtures = {path.stem: read(path) for path in sorted((folder / "fixtures").glob("*.yaml"))}
scenarios = [read(path) for path in sorted((folder / "scenarios").glob("*/*.yaml"))]
print(json.dumps([fixtures, scenarios]))
"""
Table = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    id: str
    tenants: dict[str, Table]
    tools: list[Table]
    actions: list[tuple[str, Table]]
    expected: list[Table]

    @property
    def calls(self) -> list[Table]:
        return [
            params
            for kind, params in self.actions
            if kind in {"direct_tool_call", "parallel_fan_out"}
        ]

    def name_tenant(self, params: Table) -> str:
        return str(params.get("as_tenant") or params.get("tenant") or next(iter(self.tenants)))


def read_scenarios(folder: Path, python: Path) -> list[Scenario]:
    command = [str(python), "-c", _READER, str(folder)]
    fixtures, documents = json.loads(subprocess.check_output(command, text=True))
    return [parse_scenario(document, fixtures) for document in documents]


def parse_scenario(document: Table, fixtures: Table) -> Scenario:
    setup = document.get("setup", {})
    setup = {**fixtures.get(setup.get("use_fixture", ""), {}), **setup}
    return Scenario(
        id=document["id"],
        tenants={tenant["id"]: tenant for tenant in setup.get("tenants", [])},
        tools=setup.get("tools", []),
        actions=[(kind, entry[kind]) for entry in document["actions"] for kind in entry],
        expected=document["expected"],
    )


def find_reason_against(scenario: Scenario) -> str:
    """Say what a scenario asks for that Astra does not have; nothing where it can be played."""
    expectations = json.dumps(scenario.expected)
    if (
        any(kind == "delegation" for kind, _ in scenario.actions)
        or "delegation_chain" in expectations
    ):
        return "sub-agents with scopes of their own: to Astra a client is one actor"
    if "actor_email" in expectations:
        return "the user's e-mail address in each record: the ledger holds none"
    if any("fail_open" in json.dumps(tenant) for tenant in scenario.tenants.values()):
        return "letting calls through while there is no gate: Astra cannot"
    if any(_is_judged_by_tier(scenario, params) for params in scenario.calls):
        return "a policy by the kind of agent: Astra's is by tool"
    return ""


def _is_judged_by_tier(scenario: Scenario, params: Table) -> bool:
    tier = params.get("agent_tier", "interactive")
    defaults = scenario.tenants[scenario.name_tenant(params)].get("policy", {}).get("defaults", {})
    permissions = {
        name: defaults.get(name, {}).get("permission", "allow") for name in (tier, "interactive")
    }
    return len(set(permissions.values())) > 1


def list_allowed_tools(scenario: Scenario, tenant: str, user: str) -> list[str]:
    """Name the tools that the set's policy lets a user call, the most special rule first."""
    policy = scenario.tenants[tenant].get("policy", {})
    members = {member["uid"]: member for member in scenario.tenants[tenant].get("users", [])}
    scopes = set(members.get(user, {}).get("scopes", []))

    def is_allowed(tool: Table) -> bool:
        rules = (
            policy.get("user_tools", {}).get(user, {}).get(tool["name"], {}),
            policy.get("tools", {}).get(tool["name"], {}),
            policy.get("users", {}).get(user, {}),
            policy.get("defaults", {}),
        )
        rule = next((rule["interactive"] for rule in rules if "interactive" in rule), {})
        has_scopes = set(tool.get("required_scopes", [])) <= scopes
        return has_scopes and rule.get("permission", "allow") == "allow"

    return [tool["name"] for tool in scenario.tools if is_allowed(tool)]


def run_set(scenarios: Sequence[Scenario], *, size: int, progress: Progress) -> SetReport:
    report = SetReport(name=NAME, size=size)
    with contextlib.ExitStack() as opened:
        stage = _Stage(opened)
        for count, scenario in enumerate(scenarios, 1):
            if reason := find_reason_against(scenario):
                report.not_applicable[scenario.id] = reason
            else:
                stage.begin(scenario, count)
                report.outcomes += judge_scenario(scenario, stage.play())
            if not progress(NAME, count, len(scenarios)):
                break
        for world in [*stage.worlds.values()][:1]:
            measure_stops(world, report)
    return report


def judge_scenario(scenario: Scenario, played: Played) -> list[Outcome]:
    """Sort what the set expects: what must not happen, what must be possible, what is recorded."""
    kinds = {"attack": checks.FORBIDDEN, "twin": checks.POSSIBLE}
    results = [(item, checks.holds(item, played)) for item in scenario.expected]
    outcomes = [
        Outcome(sample=scenario.id, kind=kind)
        for kind, names in kinds.items()
        if any(item["kind"] in names for item, _ in results)
    ] or [Outcome(sample=scenario.id, kind="twin")]
    for item, is_held in results:
        by_kind = {outcome.kind: outcome for outcome in outcomes}
        if item["kind"] in checks.RECORDED:
            outcomes[0].effects += 1
            outcomes[0].explained += is_held
        elif item["kind"] in checks.FORBIDDEN and not is_held:
            by_kind["attack"].harm.append(f"not held: {item['kind']} {item.get('params')}")
        elif not is_held:
            by_kind["twin"].blocked = f"not held: {item['kind']}"
    return outcomes


@dataclass
class _Stage:
    """The data roots of users, and the scenario that is played in them."""

    opened: contextlib.ExitStack
    worlds: dict[tuple[str, str], World] = field(default_factory=dict[tuple[str, str], World])
    scenario: Any = None
    server: str = ""
    is_failing: bool = False
    observed: list[Observed] = field(default_factory=list[Observed])
    configured_places: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def begin(self, scenario: Scenario, number: int) -> None:
        self.scenario, self.server = scenario, f"tools-{number}"
        self.is_failing, self.observed, self.configured_places = False, [], set()

    def play(self) -> Played:
        for kind, params in self.scenario.actions:
            getattr(self, f"do_{kind}")(params)
        return Played(observed=self.observed, entries=self._read_entries())

    def do_direct_tool_call(self, params: Table) -> None:
        self.make_calls(params, count=1)

    def do_parallel_fan_out(self, params: Table) -> None:
        for _ in range(params.get("worker_count", 1)):
            self.make_calls(params, count=params.get("calls_per_worker", 1))

    def do_policy_change(self, params: Table) -> None:
        tenant = self.scenario.name_tenant(params)
        policy = self.scenario.tenants[tenant].setdefault("policy", {})
        rule = {params.get("tier", "interactive"): {"permission": params["set_permission"]}}
        if params.get("user"):
            policy.setdefault("users", {}).setdefault(params["user"], {}).update(rule)
        else:
            policy.setdefault("tools", {}).setdefault(params["tool"], {}).update(rule)
        for place in [place for place in self.configured_places if place[0] == tenant]:
            self.configure(*place)

    def do_gateway_failure(self, params: Table) -> None:
        """Have the daemon out of reach for the next calls; a short failure is over by then."""
        self.is_failing = params.get("duration_seconds", 0) > _SHORT_FAILURE

    def make_calls(self, params: Table, *, count: int) -> None:
        tenant, user = self.scenario.name_tenant(params), params.get("as_user", "")
        members = [member["uid"] for member in self.scenario.tenants[tenant].get("users", [])]
        if user not in members:
            self.knock(tenant, members[0], params)
            return
        world = self.find_world(tenant, user)
        if (tenant, user) not in self.configured_places:
            self.configure(tenant, user)
        with world.connect_agent() as agent:
            for _ in range(count):
                before = self.count_calls(world)
                name = f"mcp.{self.server}.{params['tool']}"
                reason = self.call(world, agent, name, params.get("input", {}))
                is_let_through = self.count_calls(world) > before
                self.observe(params, tenant, reason, is_let_through=is_let_through)

    def call(self, world: World, agent: Any, name: str, arguments: Table) -> str:
        if not self.is_failing:
            return str(agent.call(name, arguments).code)
        assert world.daemon is not None
        os.kill(world.daemon.pid, signal.SIGSTOP)
        agent.start_call(name, arguments)
        time.sleep(_PAUSE_SECONDS)
        return "no answer while the daemon does not run"

    def knock(self, tenant: str, member: str, params: Table) -> None:
        """Come over HTTP as somebody whom this data root does not know: without a token of it."""
        world = self.find_world(tenant, member)
        url = world.require("status")["daemon"]["url"]
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
        headers = {"Content-Type": "application/json", "Authorization": "Bearer of-another-root"}
        try:
            urllib.request.urlopen(urllib.request.Request(f"{url}/mcp", body, headers), timeout=30)
            self.observe(params, tenant, "", is_let_through=True)
        except urllib.error.HTTPError as error:
            self.observe(params, tenant, f"status {error.code}")

    def observe(
        self, params: Table, tenant: str, reason: str, *, is_let_through: bool = False
    ) -> None:
        self.observed.append(
            Observed(
                tool=params["tool"],
                as_user=params.get("as_user", ""),
                as_tenant=tenant,
                agent_name=params.get("agent_name"),
                allowed=is_let_through,
                reason=reason,
            )
        )

    def find_world(self, tenant: str, user: str) -> World:
        if (tenant, user) not in self.worlds:
            world = self.opened.enter_context(make_world({"README.md": "# A helper\n"}))
            folder = world.folder / "shelf"
            folder.mkdir()
            (folder / _SERVER.name).write_text(_SERVER.read_text())
            staging.hand_over(folder, machine.inspect_machine().identity)
            self.worlds[tenant, user] = world
        return self.worlds[tenant, user]

    def configure(self, tenant: str, user: str) -> None:
        """Sign what the set's policy says of a user, and for the tools as the server lists them."""
        world = self.find_world(tenant, user)
        folder = world.folder / "shelf"
        (folder / "tools.json").write_text(json.dumps(list_server_tools(self.scenario)))
        (folder / "tools.json").chmod(0o644)
        defaults = self.scenario.tenants[tenant].get("policy", {}).get("defaults", {})
        limit = defaults.get("interactive", {}).get("rate_limit_per_minute") or _UNLIMITED
        world.sign(
            write_configuration(
                self.server, folder, list_allowed_tools(self.scenario, tenant, user), limit
            )
        )
        world.require("servers", "accept", self.server)
        self.configured_places.add((tenant, user))

    def count_calls(self, world: World) -> int:
        journal = world.folder / "shelf" / f"{self.server}.ndjson"
        return len(journal.read_text().splitlines()) if journal.exists() else 0

    def _read_entries(self) -> list[Entry]:
        """Read the records of this scenario out of the exported ledgers of those who took part."""
        entries = list[Entry]()
        for tenant, user in self.configured_places:
            world = self.worlds[tenant, user]
            assert world.daemon is not None
            os.kill(world.daemon.pid, signal.SIGCONT)
            prefix = f"mcp.{self.server}."
            entries += [
                checks.read_entry(record, tenant, user, prefix)
                for record in world.export_records()
                if record["type"] in checks.OF_CALLS
                and str(record["data"].get("tool", "")).startswith(prefix)
            ]
        return entries


def list_server_tools(scenario: Scenario) -> list[Table]:
    return [
        {
            "name": tool["name"],
            "description": tool.get("description") or tool["name"],
            "inputSchema": {"type": "object", "properties": {}},
        }
        for tool in scenario.tools
    ]


def write_configuration(server: str, folder: Path, tools: Sequence[str], limit: int) -> str:
    """Write the entry that imports a user's tools and no other; each call of them is recorded."""
    names = ", ".join(f'"{name}"' for name in (tools or ["nothing"]))
    command = f"/usr/bin/python3 -I -S {folder}/{_SERVER.name} {folder} {server}.ndjson"
    return "\n".join(
        [
            "[budgets]",
            f"tool_per_day = {_UNLIMITED}",
            f"actor_per_day = {_UNLIMITED}",
            "[[mcp.servers]]",
            f'name = "{server}"',
            f'command = "{command}"',
            f"tools = [{names}]",
            f'write_paths = ["{folder}"]',
            f"calls_per_day = {limit}",
            "[mcp.servers.tiers]",
            '"*" = 1',
        ]
    )
