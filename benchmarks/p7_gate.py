"""P7: a whole gate decision with 1,000 path grants, against cedarpy with parsed policies.

Both answer the same question: may this agent write this path? Astra's side parses the path, matches
it against the grants and walks every rule of the gate; cedarpy gets one permit policy per grant,
parsed once.
"""

import json
import time
from collections.abc import Callable
from importlib.util import find_spec

import measuring
from astra.trusted.policy.call import Actor, Call, Footprint, Role, Tier
from astra.trusted.policy.gate import Known, decide
from astra.trusted.policy.grants import GrantKind, GrantPlaces, compile_grants
from astra.trusted.policy.outside import build_grant_check
from astra.trusted.policy.protected import protected_places

TARGET = 100.0
AGENT = Actor(role=Role.AGENT, name="bench", door="mcp")


def main() -> None:
    quick = measuring.is_quick()
    reference = cedar(1_000, rounds=1 if quick else 20) if find_spec("cedarpy") else None
    target = measuring.times_faster(TARGET)
    measuring.report("P7 gate decision, 1,000 grants (µs)", ours(1_000), reference, target)
    for count in measuring.sizes(quick=quick):
        measuring.report(f"P7 gate decision, {count:,} grants (µs)", ours(count))


def ours(count: int) -> float:
    places = GrantPlaces(
        home="/home/someone", protected=protected_places(data_root="/data", home="/home/someone")
    )
    texts = [f"/projects/area{number}/docs" for number in range(count)]
    grants = compile_grants(GrantKind.WRITE_PATHS, texts, places=places)
    check = build_grant_check(grants, lambda _call: "")
    flags = {"PERSONA_MODE_ENABLED": True}
    path = f"/projects/area{count // 2}/docs/notes/today.md"
    call = Call(
        tool="write_file",
        tier=Tier.LOCAL_WRITE,
        actor=AGENT,
        arguments={"path": path},
        footprint=Footprint(write_paths=(path,)),
        flags=("PERSONA_MODE_ENABLED",),
        correlation="cor_0000000000000001",
    )

    def decision() -> bool:
        return decide(call, Known(flags=flags, stopped=False, outside=check(call))).allowed

    assert decision()
    return best(decision, 2_000)


def cedar(count: int, *, rounds: int) -> float:
    import cedarpy

    policies = "\n".join(
        f'permit(principal == Agent::"a", action == Action::"write",'
        f' resource in Folder::"/projects/area{number}/docs");'
        for number in range(count)
    )
    folder = f"/projects/area{count // 2}/docs"
    entities = [
        {"uid": {"type": "Agent", "id": "a"}, "attrs": {}, "parents": []},
        {
            "uid": {"type": "File", "id": f"{folder}/today.md"},
            "attrs": {},
            "parents": [{"type": "Folder", "id": folder}],
        },
    ]
    request = {
        "principal": 'Agent::"a"',
        "action": 'Action::"write"',
        "resource": f'File::"{folder}/today.md"',
        "context": {},
    }

    parsed = cedarpy.PolicySet.from_str(policies)
    known = cedarpy.Entities.from_json_str(json.dumps(entities))

    def decision() -> bool:
        return cedarpy.is_authorized(request, parsed, known).allowed

    assert decision()
    return best(decision, rounds)


def best(action: Callable[[], bool], rounds: int) -> float:
    """Give the best time of a few rounds, in microseconds a call."""
    found = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(rounds):
            action()
        found = min(found, (time.perf_counter() - began) / rounds)
    return found * 1e6


if __name__ == "__main__":
    main()
