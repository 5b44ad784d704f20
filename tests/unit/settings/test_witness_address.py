"""Which texts name a place that can keep checkpoints."""

import pytest

from astra.trusted.kernel.errors import BadSetting
from astra.trusted.settings import configuration
from astra.trusted.settings.witness_address import read_address

PLACES = {
    "/mnt/elsewhere/witness": ("folder", "/mnt/elsewhere/witness", ""),
    "/mnt/with spaces": ("folder", "/mnt/with spaces", ""),
    "git+ssh://git@example.org:22/w.git": ("remote", "ssh://git@example.org:22/w.git", "ssh"),
    "git+https://example.org/w.git": ("remote", "https://example.org/w.git", "https"),
    "git+file:///srv/w.git": ("remote", "file:///srv/w.git", "file"),
    "git@example.org:team/w.git": ("remote", "git@example.org:team/w.git", "ssh"),
    "https://example.org/witness?team=a": ("post", "https://example.org/witness?team=a", "https"),
    "http://127.0.0.1:8080/": ("post", "http://127.0.0.1:8080/", "http"),
    "http://[::1]:8080/w": ("post", "http://[::1]:8080/w", "http"),
}
NO_PLACES = [
    "witness",
    "./witness",
    "/srv/../data",
    "/srv/w\nx",
    "http://example.org/w",
    "https://name:secret@example.org/w",
    "https://example.org/w#x",
    "git+ssh://-oProxyCommand=touch%20x/w.git",
    "git+ssh://git:secret@example.org/w.git",
    "git+ssh://example.org/w.git --upload-pack=x",
    "git+ext::sh -c touch% x",
    "git+file://host/w.git",
    "ext::sh -c touch x",
    "-oProxyCommand=x@host:path",
    "git@-oProxyCommand=x:path",
    "git@example.org:-path",
    "ssh://git@example.org/w.git",
    "ftp://example.org/w",
]


@pytest.mark.parametrize("text", PLACES)
def test_a_place_is_recognised(text: str) -> None:
    address = read_address(text)
    assert (address.kind, address.location, address.scheme) == PLACES[text]


@pytest.mark.parametrize("text", NO_PLACES)
def test_anything_else_is_refused_before_it_can_be_signed(text: str) -> None:
    with pytest.raises(BadSetting) as refused:
        read_address(text)
    assert refused.value.facts["key"] == "ledger.witness"
    document = '[ledger]\nwitness = "' + text.replace("\n", "\\n") + '"'
    with pytest.raises(BadSetting):
        configuration.parse(document)
