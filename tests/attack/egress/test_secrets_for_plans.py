"""A plan's box has a secret added by its proxy where both were signed, and never holds it."""

import ssl
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from astra.adapters.boxes.plan_boxes import PlanBoxes
from astra.adapters.boxes.sandbox import SECRET_ADDED, Sandbox
from astra.plans.model import AgentPlan
from astra.trusted.files.data_root import DataRoot
from astra.trusted.ledger import views
from astra.trusted.policy import contract
from astra.trusted.sandbox.ports import BoxRequest, Outcome
from plans_at_work import PlansAtWork

HOST, VALUE = "api.example.com", "s3cr3t/value+x"
ASK = """
import os, sys, urllib.error, urllib.request
endpoint = os.environ.get("EGRESS_HTTPS", "http://127.0.0.1:3128/https")
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    answer = opener.open(f"{endpoint}/{sys.argv[1]}", timeout=20)
    print(answer.status, answer.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
except OSError as error:
    print("unreachable", error)
print(sorted(os.environ.items()))
"""


@dataclass
class PlanWorld:
    root: DataRoot
    work: PlansAtWork
    sandbox: Sandbox

    def sign(self, *lines: str) -> None:
        text = "\n".join(["[[egress.secrets]]", 'name = "API"', f'hosts = ["{HOST}"]', *lines, ""])
        root = self.work.gate.root
        signed = root.sign(contract.CONFIG_SIGNED, contract.content(text))
        event = contract.sign(root.ledger, text, signed, now=root.clock.now())
        root.ledger.append([event])

    def start_plan(self, *hosts: str) -> AgentPlan:
        plan = self.work.approved(network_domains=[*hosts], write_paths=[])
        self.work.run(plan, most=2)
        return plan

    def ask(self, plan: AgentPlan, target: str = f"{HOST}/plain") -> Outcome:
        egress = contract.read_configuration(self.work.ledger).egress
        boxes = PlanBoxes(
            agent_id=plan.id,
            sandbox=self.sandbox,
            contracts=self.work.gate.planning.contracts,
            may_write_code=lambda: False,
            secrets=egress.list_for_plans,
        )
        request = BoxRequest(
            command=("/usr/bin/python3", "-I", "-S", "-c", ASK, target),
            actor=f"agent:{plan.id}",
            correlation=plan.correlation,
        )
        return boxes.run(request)

    def list_added(self) -> list[dict[str, Any]]:
        return [record.data for record in views.records(self.work.ledger, type_=SECRET_ADDED)]


@pytest.fixture
def plans(world: Any, heads: list[str], tmp_path: Path) -> PlanWorld:
    root = DataRoot(tmp_path / "data")
    root.make_folders()
    (root.var / "secrets").mkdir(mode=0o700, exist_ok=True)
    (root.var / "secrets" / "API").write_text(f"{VALUE}\n")
    work = PlansAtWork()
    trust = ssl.create_default_context(cafile=world.authority)
    internet = replace(world.internet, trust=lambda: trust, dial=lambda a, p: _dial(world, a, p))
    return PlanWorld(root=root, work=work, sandbox=Sandbox(root, work.ledger, internet=internet))


def _dial(world: Any, address: str, port: int) -> Any:
    world.announce(address, port)
    return world.internet.dial(address, port)


def test_it_is_added_for_a_host_that_the_plan_grants_and_masked_in_what_comes_back(
    plans: PlanWorld, heads: list[str]
) -> None:
    plans.sign("plans = true")
    outcome = plans.ask(plans.start_plan(HOST))
    printed = outcome.stdout.decode()
    assert "200 you sent ***" in printed, outcome
    assert VALUE not in printed
    assert f"Authorization: Bearer {VALUE}" in heads[0]
    assert plans.list_added() == [{"secret": "API", "host": HOST, "port": 443}]


def test_a_plan_that_does_not_grant_the_host_gets_nothing(
    plans: PlanWorld, heads: list[str]
) -> None:
    plans.sign("plans = true")
    outcome = plans.ask(plans.start_plan("example.com"))
    assert "403" in outcome.stdout.decode(), outcome
    assert (heads, plans.list_added()) == ([], [])


def test_a_secret_that_is_not_for_plans_is_added_for_none(
    plans: PlanWorld, heads: list[str]
) -> None:
    plans.sign()
    outcome = plans.ask(plans.start_plan(HOST))
    printed = outcome.stdout.decode()
    assert "EGRESS_HTTPS" not in printed
    assert VALUE not in printed + "".join(heads)
    assert plans.list_added() == []


def test_another_host_that_the_plan_grants_does_not_get_it(
    plans: PlanWorld, heads: list[str]
) -> None:
    plans.sign("plans = true")
    outcome = plans.ask(plans.start_plan(HOST, "evil.net"), "evil.net/plain")
    assert "no secret is for this host" in outcome.stdout.decode(), outcome
    assert (heads, plans.list_added()) == ([], [])
