"""From a signed configuration to an app that serves, changes, fails and comes back by itself."""

import json
import os
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from astra.trusted.sandbox import boxes
from deploying import EXAMPLE, PYTHON, Traffic, fetch, until
from driver import COMMAND, Astra, kill_process, make_repository, wait_for_end
from forge_service import forge_service
from git_servers import make_bare, read_ref, smart_http
from http_driver import served
from leftovers import list_processes
from warm_start import cold

CONFIGURATION = f"""
[target]
branch = "trunk"

[app]
command = "{PYTHON} -m agent_server"
health_path = "/healthz"
client_build = "{PYTHON} build_client.py"
watch_seconds = 1

[app.permissions]
network = "host"

[deploy]
keep = 3
"""
GOOD_LOOP = (EXAMPLE / "agent_server/loop.py").read_text()
CRASHES = GOOD_LOOP.replace("self.thinking = True", "__import__('os')._exit(9)")
"""It ends when it is its turn to think, so once the release before it has left."""
SECOND = """
import os, pathlib, runpy, threading, time

def crash_when_told():
    while not pathlib.Path(os.environ["ASTRA_STATE"], "crash").exists():
        time.sleep(0.05)
    os._exit(9)

threading.Thread(target=crash_when_told, daemon=True).start()
runpy.run_module("agent_server", run_name="__main__")
"""


@dataclass
class Site:
    astra: Astra

    @property
    def git(self) -> Path:
        return self.astra.root / "var" / "git"

    def configure(self, text: str = CONFIGURATION) -> None:
        (self.astra.root / "astra.toml").write_text(text)
        self.astra.json("config", "sign")

    def commit(self, name: str, text: str) -> str:
        """Put a commit on the trusted branch, as an approved change would."""
        work = self.astra.folder / "work"
        if not work.exists():
            subprocess.run(["git", "clone", "-q", self.git, work], check=True)
        (work / name).write_text(text)
        identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
        for words in (["add", "-A"], ["commit", "-qm", "a change"], ["push", "-q"]):
            subprocess.run(["git", *identity, *words], cwd=work, check=True)
        head = ["git", "rev-parse", "HEAD"]
        return subprocess.check_output(head, cwd=work, text=True).strip()

    def deploy(self, *options: str, code: int = 0) -> Any:
        return self.astra.json("deploy", *options, code=code)

    def status(self) -> Any:
        return self.astra.json("status")["app"]

    def serving(self) -> str:
        return fetch(self.status()["port"], "/healthz")["release"]

    def events(self) -> list[str]:
        listed = self.astra.json("ledger", "tail", "--count", "100")
        return [record["type"] for record in listed["items"]]

    def switches(self) -> list[str]:
        listed = self.astra.json("ledger", "tail", "--count", "200")["items"]
        return [item["data"]["how"] for item in listed if item["type"] == "release_switched"]

    def exported(self) -> Any:
        return json.loads((self.astra.root / "deployments" / "status.json").read_text())


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Astra:
    """A repository with a server in it, and a data root that knows how to run it."""
    made = Astra(tmp_path_factory.mktemp("site"))
    target = make_repository(made.folder / "target")
    subprocess.run(["cp", "-r", f"{EXAMPLE}/.", target], check=True)
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    for words in (["add", "-A"], ["commit", "-qm", "two"]):
        subprocess.run(["git", *identity, *words], cwd=target, check=True)
    made.json("init", target, "--throwaway")
    Site(made).configure()
    made.run("down")
    return made


@pytest.fixture
def site(empty: Astra, prepared: Astra) -> Site:
    return Site(prepared.copied_to(empty))


def test_a_commit_is_deployed_served_replaced_and_brought_back(site: Site) -> None:
    first = site.deploy()
    assert first["success"]
    assert first["deployed"]
    assert first["backup_location"] is None
    release = site.serving()
    assert release == first["deployment"]["release"]
    assert fetch(site.status()["port"], "/api/greeting")["greeting"] == "Hello from the agent"
    shown = site.astra.run("status").stdout
    assert f"app          running on http://127.0.0.1:{site.status()['port']}, {release}" in shown
    static = site.astra.root / "deployments" / "current" / "static"
    assert (static / "index.html").exists(), "the front-end is built with the release"

    site.commit("agent_server/extra.py", "NEW = True\n")
    second = site.deploy()
    assert site.serving() == second["deployment"]["release"] != release
    assert Path(second["backup_location"]).name == release
    assert (Path(second["backup_location"]) / "agent_server").is_dir()

    back = site.astra.json("rollback")
    assert back["release"] == release == site.serving()
    assert site.astra.json("rollback")["release"] == second["deployment"]["release"]
    listed = site.astra.json("releases")["items"]
    assert [item["live"] for item in listed] == [True, False]
    exported = site.exported()
    assert exported["live"]["id"] == second["deployment"]["release"]
    assert site.astra.json("ledger", "verify")["ok"]


def test_a_release_that_dies_after_its_health_is_taken_back_and_quarantined(site: Site) -> None:
    good = site.deploy()["deployment"]["release"]
    # Long enough for the second crash on a busy machine; trouble ends the watch at once.
    site.configure(CONFIGURATION.replace("watch_seconds = 1", "watch_seconds = 300"))
    bad = site.commit("agent_server/loop.py", CRASHES)
    done = site.deploy(code=1)
    assert done["deployment"]["state"] == "rolled_back"
    assert "crashed" in done["deployment"]["reason"]
    assert not done["success"]
    assert site.serving() == good
    assert "commit_quarantined" in site.events()

    again = site.deploy(code=1)
    assert again["code"] == "quarantined"
    assert bad[:12] in again["detail"]
    forced = site.deploy("--force", code=1)
    assert forced["deployment"]["state"] == "rolled_back"
    assert site.serving() == good
    notes = site.astra.json("tools", "call", "astra_awareness_read", '{"kind": "alert"}')["items"]
    assert any("serves again" in note["text"] for note in notes)


def test_each_rollback_asks_for_one_repair_also_when_the_daemon_is_killed(site: Site) -> None:
    def list_repairs() -> list[dict[str, Any]]:
        goals = site.astra.json("goals", "list")["items"]
        return [goal for goal in goals if goal["source"] == "rollback"]

    site.deploy()
    site.configure(CONFIGURATION.replace("watch_seconds = 1", "watch_seconds = 300"))
    site.commit("agent_server/loop.py", CRASHES)
    taken_back = site.deploy(code=1)["deployment"]
    site.astra.kill_daemon()
    until(lambda: len(list_repairs()) == 1)
    (goal,) = list_repairs()
    assert goal["task"] == "repair_after_rollback"
    assert goal["state"] == "proposed"
    assert taken_back["id"] in goal["text"]
    site.astra.kill_daemon()
    assert [again["id"] for again in list_repairs()] == [goal["id"]]
    story = site.astra.json("ledger", "story", goal["id"])["items"]
    assert "deployment_rolled_back" in [record["type"] for record in story]


def test_a_release_that_never_gets_healthy_is_not_switched_to(site: Site) -> None:
    good = site.deploy()["deployment"]["release"]
    site.commit("agent_server/__main__.py", "raise SystemExit('broken at import')\n")
    done = site.deploy(code=1)
    assert done["deployment"]["state"] == "failed"
    assert site.serving() == good
    assert "release_switched" not in site.events()[site.events().index("deployment_failed") :]


def test_an_app_outlives_that_its_data_root_is_moved_and_not_that_it_is_removed(site: Site) -> None:
    release = site.deploy()["deployment"]["release"]
    root, pid = site.astra.root, site.astra.daemon_pid()
    elsewhere = root.rename(site.astra.folder / "elsewhere")
    wait_for_end(pid)
    until(lambda: not root.exists())
    elsewhere.rename(root)
    assert site.serving() == release
    port = site.status()["port"]
    shutil.rmtree(root.rename(elsewhere))
    until(lambda: not is_served(port))
    until(lambda: not list_processes(root))


def is_served(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def test_the_app_outlives_the_daemon_and_the_next_daemon_knows_it(site: Site) -> None:
    release = site.deploy()["deployment"]["release"]
    port, daemon = site.status()["port"], site.astra.daemon_pid()
    kill_process(daemon)
    assert fetch(port, "/healthz")["release"] == release
    assert site.status()["release"] == release
    assert site.astra.daemon_pid() != daemon
    assert site.exported()["live"]["id"] == release


def test_the_dashboards_port_is_held_for_the_next_daemon_while_the_app_runs(site: Site) -> None:
    with served(site.astra) as page:
        until(lambda: site.status() and site.status()["state"] == "running")
        release = site.serving()
        with page.client(page.login()) as http:
            assert http.get("/api/status").status_code == 200
            site.astra.kill_daemon()
        with page.client() as http:
            assert http.get("/").status_code == 503
            assert "astra up" in http.get("/").text
    with served(site.astra) as again, again.client(again.login()) as http:
        assert again.port == page.port
        assert http.get("/api/status").status_code == 200
        assert site.serving() == release


def test_a_killed_holder_is_replaced_and_the_app_serves_again(site: Site) -> None:
    release = site.deploy()["deployment"]["release"]
    kill_process(site.status()["holder"])
    until(lambda: site.status()["state"] == "running")
    assert site.serving() == release
    assert "app_restarted" in site.events()


def test_daemon_and_holder_killed_together_come_back_with_the_next_command(site: Site) -> None:
    release = site.deploy()["deployment"]["release"]
    holder, daemon = site.status()["holder"], site.astra.daemon_pid()
    for pid in (daemon, holder):
        kill_process(pid)
    until(lambda: site.status()["state"] == "running")
    assert site.serving() == release
    assert site.status()["holder"] != holder


def test_a_holder_that_hangs_is_replaced_by_the_daemon(site: Site) -> None:
    release = site.deploy()["deployment"]["release"]
    holder = site.status()["holder"]
    os.kill(holder, signal.SIGSTOP)
    until(lambda: site.status()["holder"] not in {None, holder})
    until(lambda: site.status()["state"] == "running")
    assert site.serving() == release


def test_a_killed_app_is_started_again_without_the_daemon(site: Site) -> None:
    site.deploy()
    port = site.status()["port"]
    ((box,), _) = boxes.list_registered(site.astra.root)
    site.astra.kill_daemon()
    with boxes.hold_process(box) as process:
        assert process is not None
        assert boxes.kill(process)
        assert boxes.wait_dead(process, 60)
    assert fetch(port, "/healthz")["status"] == "ok"


def test_a_stop_ends_the_app_and_a_start_brings_it_back(site: Site) -> None:
    release = site.deploy()["deployment"]["release"]
    assert site.astra.json("stop", "--now")["ended"] == 1
    assert site.deploy(code=1)["code"] == "stopped"
    site.astra.json("start")
    until(lambda: site.status()["state"] == "running")
    assert site.serving() == release


def test_down_ends_the_app_unless_it_is_to_stay(site: Site) -> None:
    release = site.deploy()["deployment"]["release"]
    port = site.status()["port"]
    site.astra.json("down", "--keep-app")
    assert fetch(port, "/healthz")["release"] == release
    site.astra.json("status")
    site.astra.json("down")
    with pytest.raises(OSError, match="refused"):
        fetch(port)


def test_two_deployments_at_once_are_one(site: Site) -> None:
    site.configure(CONFIGURATION.replace("watch_seconds = 1", "watch_seconds = 30"))
    first = site.deploy("--no-wait")
    assert site.deploy("--no-wait", code=1)["code"] == "deploying"
    assert first["deployment"]["open"]


def test_a_tampered_release_is_not_gone_back_to(site: Site) -> None:
    first = site.deploy()["deployment"]["release"]
    site.commit("agent_server/extra.py", "")
    second = site.deploy()["deployment"]["release"]
    file = site.astra.root / "deployments" / "releases" / first / "agent_server" / "api.py"
    file.chmod(0o644)
    file.write_text(file.read_text() + "# planted\n")
    done = site.astra.json("rollback", first, code=1)
    assert "somebody wrote to it" in done["deployment"]["reason"]
    assert site.serving() == second


def test_only_so_many_releases_are_kept(site: Site) -> None:
    for number in range(4):
        site.commit("agent_server/extra.py", f"NUMBER = {number}\n")
        site.deploy()
    kept = {item["id"] for item in site.astra.json("releases")["items"]}
    folders = {path.name for path in (site.astra.root / "deployments" / "releases").iterdir()}
    assert len(kept) == 3
    assert folders == kept


def test_a_health_command_runs_in_the_apps_profile_against_the_new_release(site: Site) -> None:
    checks = """
import os, pathlib
assert os.getuid() != 0
pathlib.Path(os.environ["ASTRA_STATE"], "checked").write_text(os.environ["ASTRA_RELEASE"])
"""
    site.commit("check.py", checks)
    checked_so = CONFIGURATION.replace("[app]", f'[app]\nhealth_command = "{PYTHON} check.py"')
    site.configure(checked_so)
    done = site.deploy()
    checked = site.astra.root / "app-state" / "checked"
    assert checked.read_text() == done["deployment"]["release"]
    site.commit("check.py", "raise SystemExit('not today')\n")
    site.configure(checked_so.replace("[app]", "[app]\nstart_seconds = 5"))
    failed = site.deploy(code=1)
    assert "not healthy after 5 s" in failed["deployment"]["reason"]
    assert "not today" in failed["deployment"]["reason"]
    assert site.serving() == done["deployment"]["release"]


def test_bodies_of_functions_are_reloaded_and_everything_else_is_a_restart(site: Site) -> None:
    site.configure(CONFIGURATION.replace("[app]", "[app]\nreload = true"))
    site.deploy()
    source = (EXAMPLE / "agent_server" / "api.py").read_text()
    site.commit("agent_server/api.py", source.replace("Hello from", "Greetings from"))
    assert site.deploy()["success"]
    port = site.status()["port"]
    assert fetch(port, "/api/greeting")["greeting"] == "Greetings from the agent"
    assert site.switches() == ["started", "reloaded"]
    site.commit("agent_server/extra.py", "NEW = 1\n")
    assert site.deploy()["success"]
    assert "extra.py: came" in site.switches()[-1]
    site.astra.json("rollback")
    assert fetch(port, "/api/greeting")["greeting"] == "Greetings from the agent"


def test_code_and_command_that_changed_together_go_back_together(site: Site) -> None:
    first = site.deploy()["deployment"]["release"]
    site.commit("second.py", SECOND)
    other_command = CONFIGURATION.replace("-m agent_server", "-m second")
    site.configure(other_command.replace("watch_seconds = 1", "watch_seconds = 300"))
    site.deploy("--no-wait")
    second = until(lambda: (found := site.serving()) != first and found)
    (site.astra.root / "app-state" / "crash").touch()
    until(lambda: "deployment_rolled_back" in site.events())
    until(lambda: site.status()["state"] == "running")
    with Traffic(site.status()["port"]) as traffic:
        traffic.more(20)
    assert traffic.releases == {first}, f"old code with its own command, not with that of {second}"
    assert traffic.lost == []
    assert "rollback_failed" not in site.events()
    assert site.status()["release"] == first


def test_staging_first_and_a_push_after_the_operators_checks(site: Site) -> None:
    remote = site.astra.folder / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
    checks = f"{PYTHON} -c 'import os; assert os.path.exists(str(chr(46)) + chr(47) + chr(65))'"
    deploy = f'[deploy]\nstaging = true\npush_remote = "file://{remote}"\n'
    text = CONFIGURATION.replace("[deploy]", f"{deploy}commit_checks = {json.dumps(checks)}")
    site.configure(text)
    hook = site.git / "hooks" / "pre-push"
    hook.write_text(f"#!/bin/sh\ntouch {site.astra.folder}/hooked\n")
    hook.chmod(0o755)
    first = site.deploy()
    assert first["success"]
    assert "release_rehearsed" in site.events()
    until(lambda: "release_push_failed" in site.events())
    assert site.serving() == first["deployment"]["release"]
    commit = site.commit("A", "what the check looks for\n")
    assert site.deploy()["success"]
    until(lambda: "release_pushed" in site.events())
    head = ["git", "-C", remote, "rev-parse", "refs/heads/trunk"]
    assert subprocess.check_output(head, text=True).strip() == commit
    assert not (site.astra.folder / "hooked").exists()
    assert not (site.astra.root / "var" / "run" / "staging.sock").exists()


def test_a_persons_commit_stops_one_push_and_a_sync_lets_the_next_one_out(site: Site) -> None:
    remote = make_bare(site.astra.folder / "remote.git", "trunk")
    text = CONFIGURATION.replace("[target]", f'[target]\nupstream = "{remote}"')
    site.configure(text.replace("[deploy]", f'[deploy]\npush_remote = "{remote}"'))
    first = site.deploy()
    until(lambda: "release_pushed" in site.events())
    assert read_ref(remote, "trunk") == first["commit_hash"]
    commit_as_person(remote, site.astra.folder / "person")
    site.commit("notes.txt", "by the agent\n")
    assert site.deploy()["success"], "a push decides nothing about a deployment"
    until(lambda: "release_push_failed" in site.events())
    (failed,) = [
        record["data"]
        for record in site.astra.json("ledger", "tail", "--count", "100")["items"]
        if record["type"] == "release_push_failed"
    ]
    assert failed["code"] == "behind"
    assert "astra sync" in failed["next_step"]
    assert site.astra.json("sync", "--yes")["state"] == "merged"
    merged = site.deploy()
    until(lambda: read_ref(remote, "trunk") == merged["commit_hash"])
    until(lambda: site.events().count("release_pushed") == 2)


MIGRATION = """
import os, pathlib, sys
with pathlib.Path(os.environ["SCHEMA"]).open("a") as schema:
    schema.write("{version}\\n")
sys.exit({code})
"""


def test_a_migration_runs_once_for_each_release_and_goes_back_with_it(site: Site) -> None:
    command = f'before_start = "{PYTHON} migrate.py"\nwatch_seconds = 1'
    command += '\nenv = { SCHEMA = "{state}/schema" }'
    site.configure(CONFIGURATION.replace("watch_seconds = 1", command))
    schema = site.astra.root / "app-state" / "schema"
    site.commit("migrate.py", MIGRATION.format(version="first", code=0))
    first = site.deploy()["deployment"]["release"]
    assert schema.read_text() == "first\n"
    site.commit("migrate.py", MIGRATION.format(version="second", code=0))
    second = site.deploy()["deployment"]["release"]
    site.astra.kill_daemon()
    assert site.serving() == second
    assert schema.read_text() == "first\nsecond\n", "not again with a daemon that is new"
    site.commit("migrate.py", MIGRATION.format(version="broken", code=1))
    failed = site.deploy(code=1)["deployment"]
    assert (failed["state"], site.serving()) == ("failed", second)
    assert schema.read_text() == "first\nsecond\n", "what a failed migration wrote is taken back"
    assert site.astra.json("rollback")["release"] == first == site.serving()
    assert schema.read_text() == "first\n"


def commit_as_person(remote: Path, clone: Path) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", "clone", "-q", remote, clone], check=True)
    (clone / "readme").write_text("by a person\n")
    for words in (["add", "-A"], ["commit", "-qm", "by a person"], ["push", "-q"]):
        subprocess.run(["git", *identity, *words], cwd=clone, check=True)


def test_a_change_goes_out_as_a_pull_request_and_the_token_stays_a_secret(site: Site) -> None:
    token, folder = "tok-8c1f70aa93", site.astra.folder / "remotes"
    remote = make_bare(folder / "team" / "app.git", "trunk")
    secrets = site.astra.root / "var" / "secrets"
    secrets.mkdir(exist_ok=True)
    (secrets / "PUSH").write_text(f"{token}\n")
    with smart_http(folder, token) as server, forge_service("gitea", token) as forge:
        deploy = f'''[deploy]
push = "pull-request"
push_remote = "{server.address}/team/app.git"
push_token = "PUSH"
forge = "gitea"
forge_api = "{forge.api}"'''
        site.configure(CONFIGURATION.replace("[deploy]", deploy))
        first = site.deploy()
        until(lambda: "release_pushed" in site.events())
    (pull,) = forge.pulls
    commit = first["commit_hash"]
    assert pull["head"]["ref"] == f"astra/{commit[:12]}"
    assert pull["base"] == "trunk"
    assert read_ref(remote, f"astra/{commit[:12]}") == commit
    assert read_ref(remote, "trunk") == "", "the branch itself is for people to move"
    (pushed,) = [
        record
        for record in site.astra.json("ledger", "tail", "--count", "100")["items"]
        if record["type"] == "release_pushed"
    ]
    assert pushed["data"]["pull_request"] == pull["html_url"]
    ledger = b"".join(
        path.read_bytes() for path in (site.astra.root / "var" / "ledger").glob("*.ndjson")
    )
    assert token.encode() not in ledger


def test_without_an_app_in_the_configuration_it_says_what_to_do(site: Site) -> None:
    site.configure('[target]\nbranch = "trunk"\n')
    refused = site.deploy(code=1)
    assert refused["code"] == "no_app"
    assert "config sign" in refused["next_step"]


def test_an_agent_asks_and_an_operator_approves_the_deployment(site: Site) -> None:
    site.astra.json("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on")
    call = ("tools", "call", "deploy_agent_code", '{"commit_message": "please"}')
    waiting = site.astra.json(*call, code=3)
    site.astra.json("approve", waiting["approval_id"])
    done = site.astra.json(*call)
    assert done == {
        "success": True,
        "commit_hash": site.status()["commit"],
        "tests_passed": False,
        "human_approval_required": False,
        "deployed": True,
        "backup_location": None,
    }
    forced = '{"force_deploy": true}'
    refused = site.astra.json("tools", "call", "deploy_agent_code", forced, code=1)
    assert refused["code"] == "operator_only"


def test_up_brings_the_app_up_and_ctrl_c_ends_it(site: Site) -> None:
    site.astra.run("down")
    command = cold(COMMAND, "up", "--port", "0")
    with subprocess.Popen(command, env=site.astra.environment, cwd=site.astra.folder) as up:
        until((site.astra.root / "var" / "run" / "astra.sock").exists)
        until(lambda: (found := site.status()) and found["state"] == "running")
        port = site.status()["port"]
        assert fetch(port, "/healthz")["status"] == "ok"
        up.send_signal(signal.SIGINT)
        up.wait(300)
    with pytest.raises(OSError, match="refused"):
        fetch(port)


@pytest.mark.serial
def test_a_rollback_under_traffic_loses_nothing(site: Site) -> None:
    site.deploy()
    with Traffic(site.status()["port"]) as traffic:
        for number in range(2):
            traffic.more()
            site.commit("agent_server/extra.py", f"NUMBER = {number}\n")
            site.deploy()
        traffic.more()
        site.astra.json("rollback")
        traffic.more()
    assert traffic.lost == []
    assert len(traffic.releases) == 3


def test_a_confined_app_is_deployed_through_the_same_path(site: Site) -> None:
    site.configure(CONFIGURATION.replace('network = "host"', "network = []"))
    assert site.deploy()["success"]
    assert site.serving()
