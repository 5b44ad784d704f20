"""Who is recognised by a secret, until when, and on whose word."""

from datetime import timedelta
from typing import Any

import pytest

from astra.testing import RootInMemory
from astra.trusted.kernel.clock import format_time
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound, SignatureRejected
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger.record import Event
from astra.trusted.policy import access
from astra.trusted.policy.access import Principal
from astra.trusted.policy.call import Role
from astra.trusted.policy.limits import build_limits


@pytest.fixture
def root() -> RootInMemory:
    return RootInMemory()


def recognised(root: RootInMemory, secret: str) -> Principal | None:
    return access.find_principal(root.ledger, secret, now=root.clock.now())


def make(root: RootInMemory, secret: str, key: KeyPair | None = None, **given: Any) -> str:
    wanted = {"name": "robot", "role": "agent", "days": 30, **given}
    content = access.token_content(secret, now=root.clock.now(), **wanted)
    signed = root.sign(access.TOKEN_CREATED, content, key)
    access.create_token(root.ledger, content, signed, now=root.clock.now())
    return content["token"]


def test_a_session_is_recognised_until_it_is_over(root: RootInMemory) -> None:
    access.open_session(root.ledger, "secret", by="link", now=root.clock.now())
    who = recognised(root, "secret")
    assert who
    assert (who.role, who.by) == (Role.OPERATOR, "link")
    root.clock.advance(hours=12)
    assert recognised(root, "secret") is None
    assert not access.is_still_recognised(root.ledger, who, now=root.clock.now())


def test_turning_a_clock_back_revives_no_session(root: RootInMemory) -> None:
    access.open_session(root.ledger, "secret", by="link", now=root.clock.now())
    root.clock.advance(hours=13)
    root.ledger.append([Event(type="anything", actor="test")])
    root.clock.advance(hours=-13)
    assert recognised(root, "secret") is None


def test_a_closed_session_is_nobody(root: RootInMemory) -> None:
    who = access.open_session(root.ledger, "secret", by="link", now=root.clock.now())
    assert access.is_still_recognised(root.ledger, who, now=root.clock.now())
    access.close_session(root.ledger, who.id, actor=str(who))
    assert recognised(root, "secret") is None
    assert not access.is_still_recognised(root.ledger, who, now=root.clock.now())


def test_an_unknown_or_empty_secret_is_nobody(root: RootInMemory) -> None:
    access.open_session(root.ledger, "secret", by="link", now=root.clock.now())
    for secret in ("", "Secret", "secret ", access.hash_secret("secret")):
        assert recognised(root, secret) is None


def test_a_token_has_the_role_that_was_signed(root: RootInMemory) -> None:
    routes = build_limits(routes=["GET /api/status"])
    for role in Role:
        make(root, f"secret of {role}", role=str(role), limits=routes)
        who = recognised(root, f"secret of {role}")
        assert who
        assert (who.role, who.by, who.name) == (role, "token", "robot")
        assert who.limits == routes
    assert not any("secret of" in line for line in root.ledger.lines)


def test_a_token_ends_with_its_time_or_its_revocation(root: RootInMemory) -> None:
    make(root, "short", days=1)
    revoked = make(root, "revoked")
    access.revoke_token(root.ledger, revoked, actor="anyone")
    ended = access.revoke_token(root.ledger, revoked, actor="again").ended
    assert ended == format_time(root.clock.now())
    assert recognised(root, "revoked") is None
    root.clock.advance(days=1)
    assert recognised(root, "short") is None


def test_a_token_record_without_the_operators_signature_is_nobody(root: RootInMemory) -> None:
    content = access.token_content(
        "mine", name="mine", role="operator", days=1, now=root.clock.now()
    )
    forged = Event(
        type=access.TOKEN_CREATED, actor="operator", data=content, subject=content["token"]
    )
    root.ledger.append([forged])
    assert access.get_token(root.ledger, content["token"]).role == "operator"
    assert recognised(root, "mine") is None
    with pytest.raises(SignatureRejected):
        make(root, "mine", key=KeyPair.generate())


def test_a_token_cannot_take_anothers_place(root: RootInMemory) -> None:
    content = access.token_content("a", name="a", role="agent", days=1, now=root.clock.now())
    for secret in ("a", "b"):
        wanted = {**content, "hash": access.hash_secret(secret)}
        signed = root.sign(access.TOKEN_CREATED, wanted)
        if secret == "a":
            access.create_token(root.ledger, wanted, signed, now=root.clock.now())
        else:
            with pytest.raises(Conflict):
                access.create_token(root.ledger, wanted, signed, now=root.clock.now())
    assert recognised(root, "b") is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "root"},
        {"name": ""},
        {"name": "x" * 61},
        {"name": "a\x1b[31m"},
        {"days": 0},
        {"days": -1},
        {"days": 4000},
    ],
    ids=str,
)
def test_odd_tokens_are_refused(root: RootInMemory, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        make(root, "secret", **wrong)


def test_a_token_with_more_or_fewer_members_is_refused(root: RootInMemory) -> None:
    content = access.token_content("s", name="n", role="agent", days=1, now=root.clock.now())
    for wrong in ({**content, "admin": True}, {"token": content["token"]}):
        with pytest.raises(BadInput):
            access.create_token(
                root.ledger,
                wrong,
                root.sign(access.TOKEN_CREATED, wrong),
                now=root.clock.now() + timedelta(0),
            )


def test_revoking_what_is_not_there_says_so(root: RootInMemory) -> None:
    with pytest.raises(NotFound):
        access.revoke_token(root.ledger, "tok_0000000000000000", actor="anyone")


def test_a_service_names_its_routes_and_a_scope_narrows_something(root: RootInMemory) -> None:
    for wanted, said in (
        ({"role": "service"}, "names the routes"),
        ({"role": "service", "limits": build_limits(tier=0)}, "names the routes"),
    ):
        with pytest.raises(BadInput, match=said):
            make(root, "x", **wanted)
    content = access.token_content("x", name="x", role="agent", days=1, now=root.clock.now())
    nothing = {"tools": [], "tier": 2, "paths": [], "routes": []}
    for more in ({"limits": nothing}, {"mine": False}, {"limits": {"tier": 0}}, {"other": 1}):
        signed = root.sign(access.TOKEN_CREATED, {**content, **more})
        with pytest.raises(BadInput):
            access.create_token(root.ledger, {**content, **more}, signed, now=root.clock.now())
