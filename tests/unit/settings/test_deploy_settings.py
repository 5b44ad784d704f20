"""Where pull requests are made follows from the remote, or is said."""

import pytest

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings.configuration import parse
from astra.trusted.settings.deploy_settings import Deploy, Forge


@pytest.mark.parametrize(
    ("remote", "forge", "api"),
    [
        ("https://github.com/team/app.git", "", "https://api.github.com"),
        ("git@github.com:team/app.git", "", "https://api.github.com"),
        ("ssh://git@git.example.org:2222/team/app.git", "gitea", "https://git.example.org/api/v1"),
        ("https://git.example.org/team/app", "github", "https://git.example.org/api/v3"),
        ("https://example.org/deep/er/team/app.git/", "gitea", "https://example.org/api/v1"),
    ],
)
def test_the_forge_follows_from_the_remote(remote: str, forge: str, api: str) -> None:
    found = Deploy(push_remote=remote, forge=forge).find_forge()  # type: ignore[arg-type]
    assert (found.owner, found.repository, found.api) == ("team", "app", api)


def test_an_api_elsewhere_is_named() -> None:
    deploy = Deploy(
        push_remote="file:///srv/team/app.git",
        forge="gitea",
        forge_api="http://localhost:3000/api/",
    )
    assert deploy.find_forge() == Forge(
        kind="gitea", api="http://localhost:3000/api", owner="team", repository="app"
    )


@pytest.mark.parametrize(
    "lines",
    [
        'push = "pull-request"',
        'push = "pull-request"\npush_remote = "https://git.example.org/team/app"\npush_token = "P"',
        'push = "pull-request"\npush_remote = "https://github.com/team/app"',
        'push = "pull-request"\npush_remote = "https://github.com/app"\npush_token = "P"',
        'push = "force"',
        'push_remote = "ext::sh -c id"',
    ],
)
def test_what_cannot_be_pushed_is_refused_before_it_is_signed(lines: str) -> None:
    with pytest.raises(BadSetting):
        parse(f"[deploy]\n{lines}")


def test_a_fast_forward_is_what_happens_unless_another_way_is_signed() -> None:
    assert parse("").deploy.push == "fast-forward"
