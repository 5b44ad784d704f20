"""Which pool a request works in, and what a full pool says."""

import asyncio

import pytest

from astra.interfaces.daemon.capacity import SIZES, THREADS, Busy, Pool, PoolName, Size, pool_of
from astra.trusted.door.rules import RULES
from astra.trusted.policy.access import Principal
from astra.trusted.policy.call import Role

pytestmark = pytest.mark.anyio


def somebody(role: Role) -> Principal:
    return Principal(id="tok_1", role=role, by="token", expires_at="")


def test_every_place_is_a_thread() -> None:
    assert sum(size.working for size in SIZES.values()) < THREADS


@pytest.mark.parametrize("route", RULES)
def test_what_an_agent_may_do_never_takes_an_operators_place(route: str) -> None:
    rule = RULES[route]
    where = pool_of(route, somebody(Role.AGENT))
    if Role.AGENT in rule.roles and not rule.stream:
        assert where is PoolName.AGENT
    elif rule.public:
        assert where is PoolName.PUBLIC
    else:
        assert where in {PoolName.STOP, PoolName.DECIDE, PoolName.SLOW, None}


@pytest.mark.parametrize("who", [None, somebody(Role.OPERATOR)])
def test_stop_has_places_that_nothing_else_takes(who: Principal | None) -> None:
    in_stop = {route for route in RULES if pool_of(route, who) is PoolName.STOP}
    assert in_stop == {"GET /api/stop", "POST /api/stop", "POST /api/stop/record"}


def test_an_operator_with_a_session_calls_tools_beside_the_agents() -> None:
    assert pool_of("POST /api/tools/{name}", somebody(Role.OPERATOR)) is PoolName.DECIDE
    assert pool_of("POST /api/tools/{name}", None) is PoolName.AGENT


async def test_a_pool_lets_some_work_some_wait_and_tells_the_rest_to_come_later() -> None:
    pool, done = Pool(Size(working=2, waiting=3, of_one=9), name="test"), asyncio.Event()
    under_way = 0

    async def work() -> None:
        nonlocal under_way
        async with pool.place("agent"):
            under_way += 1
            await done.wait()

    tasks = [asyncio.create_task(work()) for _ in range(6)]
    finished, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    (refused,) = finished
    assert isinstance(refused.exception(), Busy)
    assert under_way == 2
    done.set()
    await asyncio.wait(tasks)
    assert under_way == 5
    async with pool.place("agent"):
        pass


async def test_one_caller_has_a_part_of_the_queue_only() -> None:
    pool = Pool(Size(working=1, waiting=9, of_one=2), name="test")
    async with pool.place("one"):
        waiting = asyncio.create_task(_pass(pool, "one"))
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="2 requests of yours"):
            await _pass(pool, "one")
        other = asyncio.create_task(_pass(pool, "other"))
    await asyncio.gather(waiting, other)


async def test_a_caller_that_leaves_while_it_waits_gives_its_place_back() -> None:
    pool = Pool(Size(working=1, waiting=1, of_one=9), name="test")
    async with pool.place("one"):
        waiting = asyncio.create_task(_pass(pool, "two"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        third = asyncio.create_task(_pass(pool, "three"))
        await asyncio.sleep(0)
        assert not third.done()
    await third


async def _pass(pool: Pool, who: str) -> None:
    async with pool.place(who):
        pass


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
