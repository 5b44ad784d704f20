"""A running Astra is built once, whole; what it sees is swapped, and nothing piles up."""

import ast
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

import astra as package
from astra.bootstrap.build import build_runtime
from astra.bootstrap.runtime import Runtime
from astra.trusted.calls.counter import Request
from astra.trusted.files import operators_key
from astra.trusted.kernel.errors import AstraError
from astra.trusted.kernel.signatures import KeyPair
from astra.trusted.ledger import views as records
from astra.trusted.policy import authority, contract
from astra.trusted.policy.call import Actor, Role
from astra.trusted.settings import environment
from driver import PASSPHRASE, Astra, make_repository

ROUNDS = 12


@pytest.fixture
def astra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Astra:
    astra = Astra(tmp_path)
    target = make_repository(tmp_path / "target")
    astra.json("init", target, "--throwaway")
    astra.json("down")
    monkeypatch.setenv("XDG_CONFIG_HOME", astra.environment["XDG_CONFIG_HOME"])
    return astra


@pytest.fixture
def runtime(astra: Astra) -> Iterator[Runtime]:
    runtime = build_runtime(environment.load(astra.environment))
    try:
        yield runtime
    finally:
        runtime.close()


@pytest.fixture
def operator(runtime: Runtime) -> KeyPair:
    return operators_key.unlock(authority.find_keys(runtime.ledger).root_id, PASSPHRASE)


def sign(runtime: Runtime, operator: KeyPair, *patterns: str) -> None:
    """Put a configuration with these secret patterns into force, as the route does."""
    plain = "".join(contract.signed_text(runtime.ledger).partition("[agent]")[:1])
    text = f"{plain}[agent]\nsecret_patterns = {list(patterns)!r}\n".replace("'", '"')
    statement = authority.draft(
        contract.CONFIG_SIGNED,
        contract.content(text),
        root_id=authority.find_keys(runtime.ledger).root_id,
        head=records.settled_head(runtime.ledger),
        now=runtime.clock.now(),
    )
    signed = authority.sign(statement, operator)
    runtime.ledger.append([contract.sign(runtime.ledger, text, signed, now=runtime.clock.now())])
    runtime.views.renew()


def read(runtime: Runtime, path: str) -> str:
    """Read a file of the target as an agent does; gives its text, or the code of the refusal."""
    actor = Actor(role=Role.AGENT, name="test", door="test")
    request = Request(name="read_file", arguments={"path": f"src/{path}"}, actor=actor)
    try:
        return str(runtime.counter.call(request)["text"])
    except AstraError as error:
        return error.reason


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_every_part_is_there_before_anybody_asks_for_it(runtime: Runtime) -> None:
    assert all(field.name in vars(runtime) for field in fields(Runtime))
    with pytest.raises(FrozenInstanceError):
        runtime.counter = runtime.counter  # pyright: ignore[reportAttributeAccessIssue]


def test_nothing_in_bootstrap_is_made_on_first_use() -> None:
    for path in (Path(package.__file__).parent / "bootstrap").glob("*.py"):
        names = {
            node.id if isinstance(node, ast.Name) else node.attr
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Name | ast.Attribute)
        }
        assert not names & {"cached_property", "lru_cache", "cache"}, path.name


def test_what_cannot_be_built_leaves_the_data_root_to_others(astra: Astra) -> None:
    (astra.root / "persona_space").rename(astra.root / "elsewhere")
    with pytest.raises(AstraError, match="persona_space"):
        build_runtime(environment.load(astra.environment))
    (astra.root / "elsewhere").rename(astra.root / "persona_space")
    build_runtime(environment.load(astra.environment)).close()


def test_a_signed_pattern_counts_from_the_next_call_on(runtime: Runtime, operator: KeyPair) -> None:
    counter = runtime.counter
    assert "return 42" in read(runtime, "agent.py")
    sign(runtime, operator, "agent.py")
    assert read(runtime, "agent.py") == "read_secret"
    sign(runtime, operator)
    assert "return 42" in read(runtime, "agent.py")
    assert runtime.counter is counter, "its rate limits go on"


def test_views_that_were_replaced_keep_nothing_open(runtime: Runtime, operator: KeyPair) -> None:
    read(runtime, "agent.py")
    before = open_files()
    for number in range(ROUNDS):
        sign(runtime, operator, f"other{number}.py")
        read(runtime, "agent.py")
    assert open_files() <= before + 1, "a reader of the index may have come, and no view's"


def test_calls_while_configurations_are_signed_see_one_or_the_other(
    runtime: Runtime, operator: KeyPair
) -> None:
    over = threading.Event()

    def keep_reading(_worker: int) -> set[str]:
        source = runtime.views
        answers: set[str] = set()
        while not over.is_set():
            try:
                answers.add(source.current.source.read("agent.py").text)
            except AstraError as error:
                answers.add(error.reason)
        return answers

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(keep_reading, worker) for worker in range(3)]
        try:
            for _ in range(ROUNDS):
                sign(runtime, operator, "agent.py")
                sign(runtime, operator)
        finally:
            over.set()
        answers = set[str]().union(*(reader.result() for reader in readers))
    assert len(answers - {"read_secret"}) <= 1
