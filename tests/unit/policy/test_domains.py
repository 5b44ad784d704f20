import pytest
from hypothesis import given
from hypothesis import strategies as st

from astra.trusted.policy import domains
from astra.trusted.policy.domains import BadDomain, allows, normalise_host, parse_grant

label = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)
top = st.from_regex(r"[a-z]{2,6}", fullmatch=True)
host = st.builds(lambda labels, last: ".".join([*labels, last]), st.lists(label, min_size=1), top)


@pytest.mark.parametrize(
    ("grant", "asked", "port", "allowed"),
    [
        ("example.com", "example.com", 443, True),
        ("example.com", "example.com", 80, True),
        ("example.com", "example.com", 22, False),
        ("example.com", "api.example.com", 443, False),
        ("example.com", "evil-example.com", 443, False),
        ("example.com", "example.com.evil.net", 443, False),
        ("example.com", "xexample.com", 443, False),
        ("example.com", "com", 443, False),
        ("*.example.com", "api.example.com", 443, True),
        ("*.example.com", "a.b.example.com", 443, True),
        ("*.example.com", "example.com", 443, False),
        ("*.example.com", "evil-example.com", 443, False),
        ("*.example.com", "api.example.com.evil.net", 443, False),
        ("example.com:8443", "example.com", 8443, True),
        ("example.com:8443", "example.com", 443, False),
        ("EXAMPLE.com.", "example.com", 443, True),
        ("bücher.example", "xn--bcher-kva.example", 443, True),
    ],
)
def test_a_grant_names_hosts_by_whole_labels(
    grant: str, asked: str, port: int, *, allowed: bool
) -> None:
    assert allows([parse_grant(grant)], asked, port) is allowed


@pytest.mark.parametrize(
    "text",
    [
        *("*", "*.", "*.com", "com", "localhost", "", ".", "..", "**.example.com", "a.*.com"),
        *("ex*mple.com", "example..com", ".example.com", "example.com..", "-a.com", "a-.com"),
        *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "1.2.3.4."),
        *(
            "example.0x7f",
            "example.127",
            "[::1]",
            "::1",
            "[::ffff:127.0.0.1]",
            "\uff11\uff12\uff17.0.0.1",
        ),
        *("user@example.com", "user:pw@example.com", "example.com@evil.net", "example.com/path"),
        *("example.com\0.evil.net", "exa mple.com", "example.com\r\n", "example.com#", "a_b.com"),
        *("example.com:0", "example.com:65536", "example.com:", "example.com:http", "x.com:80:80"),
        *("example.com:+80", "example.com:080", "example.com: 80", "http://example.com", "faß.de"),
        *("a" * 64 + ".com", ".".join(["a" * 60] * 5) + ".com", "exam\u200dple.com", "*.localhost"),
    ],
)
def test_what_is_no_plain_name_is_refused_as_a_grant(text: str) -> None:
    with pytest.raises(BadDomain) as refusal:
        parse_grant(text)
    assert refusal.value.next_step


def test_a_look_alike_dot_is_read_as_a_dot_and_not_as_a_letter() -> None:
    assert normalise_host("example。com") == "example.com"


@given(host)
def test_a_host_is_granted_by_its_own_name_in_any_case(name: str) -> None:
    assert allows([parse_grant(name.upper() + ".")], normalise_host(name), 443)


@given(host, host)
def test_a_grant_allows_another_host_only_below_a_star(grant: str, asked: str) -> None:
    asked, grant = normalise_host(asked), normalise_host(grant)
    assert allows([parse_grant(grant)], asked, 443) is (asked == grant)
    below = asked.split(".")[-len(grant.split(".")) :] == grant.split(".") and asked != grant
    assert allows([parse_grant("*." + grant)], asked, 443) is below


@given(host, label)
def test_glueing_letters_to_a_granted_host_never_stays_granted(name: str, extra: str) -> None:
    grants = [parse_grant(name), parse_grant("*." + name)]
    assert not domains.names_host(grants, f"{name}.{extra}")
    assert not domains.names_host(grants, f"{extra}{name}")


@given(st.text(max_size=40))
def test_any_text_is_either_one_normal_host_or_refused(text: str) -> None:
    try:
        name = normalise_host(text)
    except BadDomain:
        return
    assert name.isascii()
    assert normalise_host(name) == name
