import gzip
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from astra.interfaces.daemon.pages import Pages
from astra.trusted.door.site import Site

SITE = Site.loopback(8700)


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>" + "the page " * 200)
    (folder / "assets" / "index-1a2b.js").write_text("go();" * 400)
    (folder / "sw.js").write_text("self;")
    (folder / "secret.key").write_text("not a page's file")
    (tmp_path / "outside.js").write_text("not yours")
    return folder


@pytest.fixture
def browser(dist: Path) -> TestClient:
    return TestClient(Pages(SITE, dist), base_url=SITE.origin)


def test_every_place_inside_the_dashboard_is_the_one_page(browser: TestClient) -> None:
    for place in ("/", "/approvals/apr_1", "/ledger/story/agent.py", "/login"):
        said = browser.get(place)
        assert said.status_code == 200
        assert said.text.startswith("<!doctype html>")
        assert said.headers["cache-control"] == "no-cache"


def test_a_file_named_by_its_content_is_kept_for_ever(browser: TestClient) -> None:
    said = browser.get("/assets/index-1a2b.js")
    assert said.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in said.headers["cache-control"]
    assert "immutable" not in browser.get("/sw.js").headers["cache-control"]


def test_it_comes_zipped_to_whoever_can_read_that(browser: TestClient) -> None:
    with browser.stream("GET", "/", headers={"Accept-Encoding": "gzip"}) as said:
        assert gzip.decompress(b"".join(said.iter_raw())).startswith(b"<!doctype html>")
    assert "content-encoding" not in browser.get("/", headers={"Accept-Encoding": "br"}).headers


def test_what_the_browser_has_is_not_sent_again(browser: TestClient) -> None:
    tag = browser.get("/").headers["etag"]
    assert browser.get("/", headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize(
    "path",
    [
        "/../outside.js",
        "/%2e%2e/outside.js",
        "/assets/../../outside.js",
        "/assets/%2e%2e%2f%2e%2e%2foutside.js",
        "//outside.js",
        "/assets/..%5c..%5coutside.js",
        "/secret.key",
    ],
)
def test_no_path_reaches_a_file_that_is_not_a_page(browser: TestClient, path: str) -> None:
    said = browser.get(path)
    assert "not yours" not in said.text
    assert "not a page's file" not in said.text


def test_a_missing_file_is_missing(browser: TestClient) -> None:
    assert browser.get("/assets/index-old.js").status_code == 404
    assert browser.post("/").status_code == 405


def test_without_the_dashboard_it_says_how_to_build_it(tmp_path: Path) -> None:
    said = TestClient(Pages(SITE, tmp_path), base_url=SITE.origin).get("/")
    assert said.status_code == 404
    assert "make web" in said.text
