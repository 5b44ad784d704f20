"""Every spelling that once fooled somebody, at every place that takes a path."""

from typing import Any

import pytest

from astra.adapters.source_view.search import Pattern
from astra.trusted.kernel.errors import AstraError, NotFound, Refused
from astra.trusted.policy.grants import GrantKind, GrantRefused
from astra.trusted.policy.paths import PathRefused, parse_absolute, parse_relative
from astra.trusted.policy.reads import ReadProblem, ReadRefused, ReadScope


def test_source_reads_refuse_it(world: Any, hostile: str) -> None:
    for attempt in (
        lambda: world.source.read(hostile),
        lambda: world.source.list(folder=hostile or ".."),
        lambda: world.source.search(Pattern(text="canary"), folder=hostile or ".."),
    ):
        with pytest.raises(PathRefused) as refused:
            attempt()
        assert refused.value.next_step


def test_source_globs_refuse_it(world: Any, hostile: str) -> None:
    with pytest.raises(Refused):
        world.source.list(glob=f"{hostile}/*" if hostile else "../*")


def test_persona_reads_and_lists_refuse_it(world: Any, hostile: str) -> None:
    for attempt in (
        lambda: world.space.read(hostile),
        lambda: world.space.list(hostile or ".."),
        lambda: world.space.read(f"src/{hostile}" if hostile else "src/.."),
    ):
        with pytest.raises((PathRefused, NotFound)) as refused:
            attempt()
        assert refused.value.next_step


def test_persona_writes_and_deletes_refuse_it_and_change_nothing(world: Any, hostile: str) -> None:
    before = world.outside_files()
    for attempt in (
        lambda: world.space.write(hostile, "planted"),
        lambda: world.space.delete(hostile),
    ):
        with pytest.raises(PathRefused) as refused:
            attempt()
        assert refused.value.next_step
    assert list(world.persona.iterdir()) == []
    assert world.outside_files() == before


def test_scoped_reads_refuse_it(world: Any, hostile: str) -> None:
    for scope in ReadScope:
        with pytest.raises((PathRefused, ReadRefused)):
            world.reads(scope).read(f"{world.sandbox}/{hostile.lstrip('/') or '..'}/../x")


@pytest.mark.parametrize("kind", list(GrantKind))
def test_grants_of_it_are_refused(world: Any, hostile: str, kind: GrantKind) -> None:
    with pytest.raises(GrantRefused):
        world.grants(hostile.replace("/passwd", "/shadow"), kind=kind)


def test_no_grant_is_ever_asked_about_it(world: Any, hostile: str) -> None:
    """The lookup takes clean values only, and a hostile path cannot become one."""
    if not hostile.startswith("/"):
        with pytest.raises(PathRefused):
            parse_relative(hostile)
    with pytest.raises(PathRefused):
        parse_absolute(f"/granted/{hostile}/.." if hostile.startswith("/") else f"/{hostile}")


def test_secrets_stay_closed_at_every_door(world: Any, secret: str) -> None:
    (world.sandbox / secret).parent.mkdir(parents=True, exist_ok=True)
    (world.sandbox / secret).write_text("the canary must never be seen")
    granted = world.grants(str(world.outside))
    for attempt in (
        lambda: world.source.read(secret),
        lambda: world.space.read(secret),
        lambda: world.space.write(secret, "x"),
        lambda: world.space.delete(secret),
        lambda: world.grants(secret),
        lambda: world.reads(ReadScope.SOURCE).read(f"{world.sandbox}/{secret}"),
        lambda: world.reads(ReadScope.ALL).read(f"{world.sandbox}/{secret}"),
        lambda: world.reads(ReadScope.GRANTED, granted).read(f"{world.outside}/{secret}"),
    ):
        with pytest.raises(Refused):
            attempt()
    assert not granted.allows(parse_absolute(f"{world.outside}/{secret}"))


def test_a_secret_in_the_target_is_out_of_every_answer(world: Any) -> None:
    seen = str(world.source.list()) + str(world.space.list("src"))
    seen += str(world.source.search(Pattern(text="canary")))
    seen += str(world.source.search(Pattern(text="can.ry", regex=True)))
    assert "canary must" not in seen
    assert ".env" not in seen
    assert "id_rsa" not in seen


@pytest.mark.parametrize("name", ["var/ledger.ndjson", "VAR/ledger.ndjson", "astra.toml", ".env"])
@pytest.mark.parametrize("scope", list(ReadScope))
def test_astras_own_files_are_closed_in_every_scope(
    world: Any, name: str, scope: ReadScope
) -> None:
    with pytest.raises(ReadRefused) as refused:
        world.reads(scope).read(f"{world.data_root}/{name}")
    assert refused.value.problem in {ReadProblem.PROTECTED, ReadProblem.SECRET}


@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/root/etc/hostname",
        "/proc/self/environ",
        "/proc/self/fd/0",
        "/proc/1/cwd/etc/hostname",
        "/proc/self/task/self/root/etc/passwd",
        "/dev/zero",
        "/dev/mem",
        "/dev/stdin",
        "/sys/kernel/notes",
        "/run/secrets/x",
        "/etc/shadow",
    ],
)
@pytest.mark.parametrize("scope", list(ReadScope))
def test_windows_into_the_kernel_and_passwords_are_closed_in_every_scope(
    world: Any, path: str, scope: ReadScope
) -> None:
    with pytest.raises(Refused):
        world.reads(scope).read(path)


def test_outside_the_scope_nothing_tells_whether_a_file_exists(world: Any) -> None:
    reads = world.reads(ReadScope.SOURCE)
    (world.sandbox / "real").symlink_to(world.outside / "canary.txt")
    (world.sandbox / "void").symlink_to(world.outside / "nothing.txt")
    answers: list[dict[str, Any]] = []
    for path in (
        f"{world.outside}/canary.txt",
        f"{world.outside}/nothing.txt",
        f"{world.sandbox}/real",
        f"{world.sandbox}/void",
    ):
        with pytest.raises(AstraError) as refused:
            reads.read(path)
        answers.append({**refused.value.as_dict(), "detail": ""})
        assert str(world.outside) not in refused.value.detail or path.startswith(str(world.outside))
    assert answers[0] == answers[1] == answers[2] == answers[3]


def test_the_scopes_open_what_they_name(world: Any) -> None:
    (world.sandbox / "note.txt").write_text("inside")
    (world.outside / "plain.txt").write_text("outside")
    granted = world.grants(str(world.outside))
    assert world.reads(ReadScope.SOURCE).read(f"{world.sandbox}/note.txt").text == "inside"
    assert world.reads(ReadScope.GRANTED, granted).read(f"{world.outside}/plain.txt").text
    assert world.reads(ReadScope.ALL).read(f"{world.outside}/plain.txt").text == "outside"
    for reads in (world.reads(ReadScope.SOURCE, granted), world.reads(ReadScope.GRANTED)):
        with pytest.raises(ReadRefused):
            reads.read(f"{world.outside}/plain.txt")
    page = world.reads(ReadScope.ALL).list(str(world.data_root))
    names = {item.name for item in page.items}
    assert "sandbox" in names
    assert not names & {"var", "astra.toml", ".env"}
