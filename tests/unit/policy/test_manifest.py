import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.kernel.errors import BadInput
from astra.trusted.policy.manifest import (
    BadManifest,
    Limits,
    Manifest,
    check,
    describe_manifest,
    is_within,
)

part = st.from_regex(r"[a-zA-Z0-9_.][a-zA-Z0-9_-]{0,6}", fullmatch=True).filter(
    lambda name: name not in {".", ".."}
)
path = st.lists(part, min_size=2, max_size=5).map(lambda parts: "/srv/" + "/".join(parts))


@pytest.mark.parametrize(
    "wide",
    [
        *("/", "//", "/.", "/home", "/root", "/srv", "/tmp", "/home/you", "/home/you/", "*"),
        *("~", "relative", "", "/srv/../etc/x", "/srv/a\0b", "/etc/ssl", "/usr/share", "/proc/1"),
        *("/sys/fs", "/dev/shm", "/run/user", "/home/you/.ssh", "/home/you/.ssh/id_rsa"),
        *("/home/you/.bashrc", "/lib64/x", "/boot/efi", "//etc/passwd"),
    ],
)
@pytest.mark.parametrize("field", ["read_paths", "write_paths"])
def test_a_grant_that_is_too_broad_or_belongs_to_the_system_is_refused(
    field: str, wide: str
) -> None:
    with pytest.raises(BadManifest) as refusal:
        check(Manifest(**{field: (wide,)}), homes=["/home/you", "/root"])
    assert refusal.value.next_step


def test_a_grant_is_kept_in_one_spelling_and_once() -> None:
    kept = check(
        Manifest(
            read_paths=("/srv//b/", "/srv/a", "/srv/b"),
            network_domains=("A.com", "a.com", "a.com."),
        )
    )
    assert kept.read_paths == ("/srv/a", "/srv/b")
    assert kept.network_domains == ("a.com",)


@given(path, path)
def test_no_grant_survives_that_holds_a_protected_place_or_lies_in_one(
    grant: str, place: str
) -> None:
    for wanted in (grant, place, f"{place}/below"):
        for field in ("read_paths", "write_paths"):
            try:
                kept = check(Manifest(**{field: (wanted,)}), protected=[place])
            except BadManifest:
                continue
            for survivor in getattr(kept, field):
                assert not is_within(survivor, place)
                assert not is_within(place, survivor)


@given(path)
def test_a_folder_whose_name_only_begins_like_a_protected_one_is_another_folder(
    place: str,
) -> None:
    assert check(Manifest(read_paths=(place + "-more",)), protected=[place])


@given(path)
def test_a_checked_manifest_checks_to_itself(name: str) -> None:
    once = check(Manifest(read_paths=(name,), write_paths=(name + "/w",)))
    assert check(once) == once


@pytest.mark.parametrize(
    "environment", [{"A=B": "x"}, {"": "x"}, {"A": "x\0y"}, {"A B": ""}, {"A": "x" * 70000}]
)
def test_a_variable_that_could_be_read_as_two_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(BadManifest):
        check(Manifest(environment=environment))


@pytest.mark.parametrize(
    "limits",
    [
        {"processes": 0},
        {"wall_seconds": -1},
        {"memory_bytes": True},
        {"wall_seconds": float("nan")},
    ],
)
def test_a_limit_that_limits_nothing_is_refused(limits: dict[str, int]) -> None:
    with pytest.raises(BadManifest):
        Limits(**limits)


def test_a_limit_has_a_ceiling_of_its_own() -> None:
    with pytest.raises(BadManifest, match="processes"):
        Limits(processes=1_000_000)


def test_too_many_grants_and_bad_domains_are_refused() -> None:
    with pytest.raises(BadManifest):
        check(Manifest(read_paths=tuple(f"/srv/{n}" for n in range(65))))
    with pytest.raises(BadInput):
        check(Manifest(network_domains=("*",)))


def test_the_words_say_all_that_is_granted_and_that_there_is_nothing_else() -> None:
    text = describe_manifest(
        Manifest(
            read_paths=("/srv/in",),
            write_paths=("/srv/out",),
            network_domains=("example.com",),
            environment={"MODE": "fast"},
        )
    )
    assert text.splitlines() == [
        "can read: /srv/in, /srv/out (and the system's programs)",
        "can write: /srv/out (and scratch space that vanishes)",
        "can reach: example.com",
        "can send anything it reads to anyone at example.com",
        "is given: MODE",
        "may use 300 s, 256 processes, 2 GiB of memory",
        "may add 2 GiB of files",
        "nothing else",
    ]


def test_the_words_of_an_empty_manifest_say_nothing_three_times() -> None:
    assert describe_manifest(Manifest()).count("nothing") == 4


def test_the_words_escape_text_that_would_reorder_the_screen() -> None:
    text = describe_manifest(Manifest(read_paths=("/srv/\u202egnp.exe", "/srv/a\x1b[2J")))
    assert "\u202e" not in text
    assert "\x1b" not in text
