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
    (folder / "assets" / "index-1a2b.js.br").write_bytes(b"smaller")
    (folder / "sw.js").write_text("self;")
    (folder / "secret.key").write_text("not a page's file")
    (tmp_path / "outside.js").write_text("not yours")
    return folder


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "adr").mkdir(parents=True)
    (folder / "index.html").write_text("<h1>Documentation</h1>")
    (folder / "adr" / "index.html").write_text("<h1>Decisions</h1>")
    (folder / "search.json").write_text("[]")
    (folder / ".built-from").write_text("not a page's file")
    return folder


@pytest.fixture
def browser(dist: Path, docs: Path) -> TestClient:
    return TestClient(Pages(SITE, dist, docs), base_url=SITE.origin)


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


def test_what_was_compressed_with_the_build_comes_as_it_is(browser: TestClient) -> None:
    wanted = {"Accept-Encoding": "gzip, deflate, br;q=1.0"}
    with browser.stream("GET", "/assets/index-1a2b.js", headers=wanted) as said:
        assert (said.headers["content-encoding"], said.headers["vary"]) == ("br", "Accept-Encoding")
        assert b"".join(said.iter_raw()) == b"smaller"
    assert browser.get("/assets/index-1a2b.js.br").status_code == 404
    assert browser.get("/assets/index-1a2b.js", headers={"Accept-Encoding": "x-br"}).text == (
        "go();" * 400
    )


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
        "/docs/.built-from",
        "/docs/../outside.js",
        "/docs/%2e%2e/outside.js",
        "/docs/..%2f..%2foutside.js",
        "/docs//outside.js",
    ],
)
def test_no_path_reaches_a_file_that_is_not_a_page(browser: TestClient, path: str) -> None:
    said = browser.get(path)
    assert "not yours" not in said.text
    assert "not a page's file" not in said.text


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/docs", "Documentation"),
        ("/docs/", "Documentation"),
        ("/docs/index.html", "Documentation"),
        ("/docs/adr/", "Decisions"),
    ],
)
def test_the_documentation_is_served_beside_the_dashboard(
    browser: TestClient, path: str, title: str
) -> None:
    assert browser.get(path).text == f"<h1>{title}</h1>"
    assert browser.get("/docs/search.json").headers["content-type"] == "application/json"


def test_a_page_that_the_documentation_does_not_have_is_not_the_dashboards(
    browser: TestClient, dist: Path, tmp_path: Path
) -> None:
    assert browser.get("/docs/nothing").status_code == 404
    assert browser.post("/docs/").status_code == 405
    assert browser.get("/docsy").status_code == 200
    unbuilt = TestClient(Pages(SITE, dist, tmp_path / "none"), base_url=SITE.origin)
    assert "make web" in unbuilt.get("/docs/").text


def test_a_missing_file_is_missing(browser: TestClient) -> None:
    assert browser.get("/assets/index-old.js").status_code == 404
    assert browser.post("/").status_code == 405


def test_without_the_dashboard_it_says_how_to_build_it(tmp_path: Path) -> None:
    said = TestClient(Pages(SITE, tmp_path), base_url=SITE.origin).get("/")
    assert said.status_code == 404
    assert "make web" in said.text
