import pytest

from astra.trusted.policy.grants import GrantKind, GrantPlaces, compile_grants
from astra.trusted.policy.paths import parse_absolute
from astra.trusted.policy.protected import protected_places
from astra.trusted.policy.reads import ReadBoundary, ReadProblem, ReadRefused, ReadScope

PROTECTED = protected_places(data_root="/srv/d", home="/home/ada", others=["/home/ada/.keys"])
GRANTS = compile_grants(
    GrantKind.READ_PATHS,
    ["/data/in", "/data/*.csv"],
    places=GrantPlaces(home="/home/ada", protected=PROTECTED),
)


def answer(scope: ReadScope, text: str) -> ReadProblem | None:
    boundary = ReadBoundary(
        scope=scope,
        folders=(parse_absolute("/srv/d/sandbox"), parse_absolute("/srv/d/logs")),
        protected=PROTECTED,
        grants=GRANTS,
    )
    try:
        boundary.check(parse_absolute(text))
    except ReadRefused as refused:
        return refused.problem if refused.next_step else None
    return None


@pytest.mark.parametrize(
    ("text", "source", "granted", "everything"),
    [
        ("/srv/d/sandbox/a", None, None, None),
        ("/srv/d/logs", None, None, None),
        ("/srv/d/sandbox2/a", "out", "out", None),
        ("/srv/d/sandbox/.env", "secret", "secret", "secret"),
        ("/data/in/a", "out", None, None),
        ("/data/x.csv", "out", None, None),
        ("/data/x.txt", "out", "out", None),
        ("/data/in/id_rsa", "secret", "secret", "secret"),
        ("/etc/hosts", "out", "out", None),
        ("/etc/shadow", "secret", "secret", "secret"),
        ("/srv/d/var/ledger/x", "protected", "protected", "protected"),
        ("/srv/d/astra.toml", "protected", "protected", "protected"),
        ("/srv/d/Astra.TOML", "protected", "protected", "protected"),
        ("/home/ada/.keys/x", "protected", "protected", "protected"),
        ("/home/ada/.bashrc", "protected", "protected", "protected"),
        ("/proc/self/environ", "protected", "protected", "protected"),
        ("/dev/mem", "protected", "protected", "protected"),
    ],
)
def test_each_scope_shows_what_it_names_and_never_a_secret_or_protected_place(
    text: str, source: str | None, granted: str | None, everything: str | None
) -> None:
    names = {
        "out": ReadProblem.OUTSIDE,
        "secret": ReadProblem.SECRET,
        "protected": ReadProblem.PROTECTED,
        None: None,
    }
    assert answer(ReadScope.SOURCE, text) is names[source]
    assert answer(ReadScope.GRANTED, text) is names[granted]
    assert answer(ReadScope.ALL, text) is names[everything]


def test_a_data_root_in_an_unlucky_folder_does_not_make_every_note_a_secret() -> None:
    folder = parse_absolute("/home/ada/.config/astra/persona_space")
    boundary = ReadBoundary(scope=ReadScope.SOURCE, folders=(folder,), protected=PROTECTED)
    boundary.check(parse_absolute(f"{folder}/notes.md"))


def test_a_scope_can_be_narrowed_and_never_widened() -> None:
    for scope in ReadScope:
        for other in ReadScope:
            assert scope.narrowed_to(other) in {scope, other}
            assert scope.narrowed_to(other) is other.narrowed_to(scope)
    assert ReadScope.SOURCE.narrowed_to(ReadScope.ALL) is ReadScope.SOURCE
