import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.policy import paths
from astra.trusted.policy.grants import (
    GrantKind,
    GrantPlaces,
    GrantProblem,
    GrantRefused,
    PathGrants,
    check_grant,
    compile_grants,
)
from astra.trusted.policy.paths import AnyPath
from astra.trusted.policy.protected import protected_places
from astra.trusted.policy.secrets import SecretRules

HOME = "/home/ada"
PLACES = GrantPlaces(
    home=HOME,
    protected=protected_places(
        data_root="/srv/agent-data", home=HOME, others=["/home/ada/.astra-keys", "/opt/astra"]
    ),
)
READ, WRITE = GrantKind.READ_PATHS, GrantKind.WRITE_PATHS


def grants(*texts: str, kind: GrantKind = READ) -> PathGrants:
    return compile_grants(kind, texts, places=PLACES)


def parse(text: str) -> AnyPath:
    return paths.parse_absolute(text) if text.startswith("/") else paths.parse_relative(text)


@pytest.mark.parametrize(
    ("grant", "allowed", "denied"),
    [
        ("docs/a.md", ["docs/a.md"], ["docs/a.mdx", "docs/b.md", "docs", "x/docs/a.md"]),
        ("docs", ["docs", "docs/a", "docs/a/b"], ["docs2", "docs2/a", "xdocs", "Docs/a"]),
        ("docs/", ["docs/a"], ["docs2"]),
        ("docs/*.md", ["docs/a.md"], ["docs/secrets.key", "docs/sub/a.md", "docs", "docs/a.txt"]),
        ("docs/**", ["docs/a", "docs/a/b"], ["docs", "docs2/a"]),
        ("docs/**/*.md", ["docs/a.md", "docs/x/y/a.md"], ["docs/a.txt", "a.md"]),
        ("*.toml", ["a.toml"], ["x/a.toml"]),
        ("**/*.md", ["a.md", "x/a.md"], ["a.txt"]),
        ("/data/reports", ["/data/reports/may.csv"], ["/data", "/data/reports2", "data/reports"]),
        ("/data/*/out?", ["/data/x/out1"], ["/data/x/out", "/data/x/y/out1", "/data/x/out1/z"]),
        ("/home/ada/notes", ["/home/ada/notes/a"], ["/home/ada", "/home/ada/notes2"]),
        ("/home/ada/*.md", ["/home/ada/a.md"], ["/home/ada/x/a.md"]),
    ],
)
def test_a_grant_allows_what_it_says_and_nothing_beside_it(
    grant: str, allowed: list[str], denied: list[str]
) -> None:
    compiled = grants(grant)
    assert [text for text in allowed if not compiled.allows(parse(text))] == []
    assert [text for text in denied if compiled.allows(parse(text))] == []


def test_without_grants_nothing_is_allowed() -> None:
    assert not grants().allows(parse("a"))
    assert not grants().allows(parse("/a"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        ".",
        "/",
        "~",
        "~/",
        "*",
        "**",
        "?",
        "*/",
        "**/*",
        "*/*",
        "*/**",
        "/*",
        "/**",
        "/**/*.md",
        "/*/secrets",
        HOME,
        f"{HOME}/",
        "/home",
        "/home/bob",
        "/HOME/Ada",
        "/root",
        f"{HOME}/*",
        f"{HOME}/**",
        f"{HOME}/**/*.md",
        "/home/*/x",
    ],
)
def test_a_grant_of_everything_is_refused(text: str) -> None:
    with pytest.raises(GrantRefused) as refused:
        check_grant(READ, text, places=PLACES)
    assert refused.value.problem is GrantProblem.TOO_BROAD
    assert refused.value.next_step


@pytest.mark.parametrize(
    "text",
    [
        "/srv/agent-data",
        "/srv",
        "/srv/agent-data/var",
        "/srv/agent-data/VAR/ledger",
        "/srv/agent-data/astra.toml",
        "/srv/agent-data/**",
        "/srv/*/var/x",
        "/srv/**/2026-01.ndjson",
        "/srv/agent-data/v?r",
        "/opt/astra/lib",
        "/opt",
        "/proc/self/root",
        "/proc",
        "/dev/sda",
        "/etc/sudoers.d/x",
        f"{HOME}/.bashrc",
        f"{HOME}/.config/fish/x",
        f"{HOME}/.astra-keys/x",
    ],
)
def test_a_grant_that_reaches_a_protected_place_is_refused(text: str) -> None:
    with pytest.raises(GrantRefused) as refused:
        check_grant(READ, text, places=PLACES)
    assert refused.value.problem is GrantProblem.PROTECTED


@pytest.mark.parametrize("text", ["/etc/hosts", "/usr/local", "/bin/x", ".github/x", "AGENTS.md"])
def test_system_places_and_watched_names_may_be_read_and_never_granted_for_writing(
    text: str,
) -> None:
    assert check_grant(READ, text, places=PLACES).text == text
    with pytest.raises(GrantRefused) as refused:
        check_grant(WRITE, text, places=PLACES)
    assert refused.value.problem is GrantProblem.PROTECTED


@pytest.mark.parametrize(
    "text", [".env", "a/.ENV.local", "docs/*.pem", "**/id_rsa", "/data/.ssh", "/data/.aws/*.md"]
)
def test_a_grant_that_names_a_secret_is_refused(text: str) -> None:
    with pytest.raises(GrantRefused) as refused:
        check_grant(READ, text, places=PLACES)
    assert refused.value.problem is GrantProblem.SECRET


@pytest.mark.parametrize(
    "text",
    [
        "../x",
        "docs/../../x",
        "a\0b",
        "docs\\x",
        "C:/x",
        "~/notes",
        "docs/.git/config",
        "docs/a\u200b",
        "docs\uff0fx",
        "cafe\u0301",
        "docs/x.",
        "a**",
        "x" * 300,
    ],
)
def test_a_grant_is_held_to_the_rules_of_paths(text: str) -> None:
    with pytest.raises(GrantRefused) as refused:
        check_grant(READ, text, places=PLACES)
    assert refused.value.problem is GrantProblem.BAD_PATH


def test_a_secret_below_a_granted_folder_stays_closed() -> None:
    granted = grants("docs", "/data/in", "conf/*")
    for text in ("docs/.env", "docs/x/ID_RSA", "/data/in/.aws/config", "conf/tls.key"):
        assert not granted.allows(parse(text)), text


def test_configured_secret_patterns_close_paths_too() -> None:
    places = GrantPlaces(
        home=HOME, protected=PLACES.protected, secrets=SecretRules(patterns=("*.vault",))
    )
    granted = compile_grants(READ, ["docs"], places=places)
    assert granted.allows(parse("docs/a"))
    assert not granted.allows(parse("docs/a.Vault"))


def test_a_watched_name_below_a_folder_granted_for_writing_stays_closed() -> None:
    assert grants("docs").allows(parse("docs/.github/ci.yml"))
    writable = grants("docs", kind=WRITE)
    assert writable.allows(parse("docs/a"))
    for text in ("docs/.github/ci.yml", "docs/Agents.md", "docs/.vscode/tasks.json"):
        assert not writable.allows(parse(text)), text


NAMES = st.sampled_from(["a", "b", "docs", "x.md", "y.md", "z.py", "sub", "k.key", ".env"])
SEGMENTS = NAMES | st.sampled_from(["*", "*.md", "?.py", "**", "s*"])
GRANTS = st.lists(SEGMENTS, min_size=1, max_size=4).map("/".join)
ASKED = st.lists(NAMES, min_size=1, max_size=5).map("/".join)


def slow_allows(granted: list[str], asked: str) -> bool:
    """The definition, grant by grant, with nothing clever."""
    names = asked.split("/")
    if SecretRules().rule_for(asked):
        return False
    return any(_slow_grant(text.split("/"), names) for text in granted)


def _slow_grant(grant: list[str], names: list[str]) -> bool:
    if not any("*" in segment or "?" in segment for segment in grant):
        return names[: len(grant)] == grant
    return _slow_glob(grant, names)


def _slow_glob(pattern: list[str], names: list[str]) -> bool:
    if not pattern:
        return not names
    if pattern == ["**"]:
        return bool(names)
    if pattern[0] == "**":
        return any(_slow_glob(pattern[1:], names[i:]) for i in range(len(names) + 1))
    if not names or not _slow_glob(pattern[1:], names[1:]):
        return False
    wild = {"*": True, "*.md": names[0].endswith(".md"), "s*": names[0].startswith("s")}
    wild["?.py"] = len(names[0]) == 4 and names[0].endswith(".py")
    return wild.get(pattern[0], names[0] == pattern[0])


@given(
    st.lists(GRANTS, max_size=6),
    st.lists(ASKED, min_size=1, max_size=8),
    st.sampled_from(["", "/data/"]),
)
def test_the_lookup_allows_exactly_what_the_definition_allows(
    texts: list[str], asked: list[str], lead: str
) -> None:
    accepted: list[str] = []
    for text in texts:
        try:
            accepted.append(check_grant(READ, lead + text, places=PLACES).text)
        except GrantRefused:
            continue
    compiled = grants(*accepted)
    for text in asked:
        expected = slow_allows(accepted, lead + text)
        assert compiled.allows(parse(lead + text)) is expected, (accepted, text)


@given(st.lists(st.text(max_size=12), max_size=4), st.text(max_size=20))
def test_no_text_at_all_is_granted_or_asked_into_an_escape(texts: list[str], asked: str) -> None:
    accepted: list[str] = []
    for text in texts:
        try:
            accepted.append(check_grant(WRITE, text, places=PLACES).text)
        except GrantRefused:
            continue
    try:
        path = parse(asked)
    except paths.PathRefused:
        return
    if grants(*accepted, kind=WRITE).allows(path):
        assert any(
            asked.strip("./").startswith(text.split("*")[0].strip("/?")) for text in accepted
        )
