"""A release has no secret file of the repository, unless the operator signed it for the app."""

from pathlib import Path

from astra.bootstrap.releasing import secret_filter
from astra.trusted.settings import configuration
from deploying import SERVER, Stage

READING = (
    SERVER
    + """
from pathlib import Path
class Reading(Answer):
    def do_GET(self):
        kept = Path(os.environ["ASTRA_STATE"]) / "session.key"
        kept.exists() or kept.write_text("own")
        assert kept.read_text() == "own"
        super().do_GET()

Server(Reading).serve_forever()
"""
)
SECRETS = {"conf/server.key": "canary", ".env": "canary", "conf/app.toml": "a = 1"}


def test_secret_files_are_left_out_and_named(stage: Stage) -> None:
    commit = stage.commit({"app.py": READING, **SECRETS})
    built = stage.releases.build("20260301T120000Z-x", commit, correlation="cor_00000000")
    names = {str(p.relative_to(built.folder)) for p in Path(built.folder).rglob("*") if p.is_file()}
    assert names == {"app.py", "conf/app.toml"}
    assert set(built.withheld) == {".env", "conf/server.key"}


def test_a_file_that_was_signed_for_the_app_is_there_and_patterns_count() -> None:
    signed = configuration.parse(
        '[agent]\nsecret_patterns = ["payroll/**"]\n'
        '[app.permissions]\nsecret_files = ["conf/server.key"]\n'
    )
    withheld = [
        path
        for path in ("conf/server.key", "conf/other.key", "payroll/may.csv", "app.py")
        if secret_filter(signed)(path)
    ]
    assert withheld == ["conf/other.key", "payroll/may.csv"]


def test_what_the_app_keeps_in_its_state_stays_its_own(stage: Stage) -> None:
    stage.serve(stage.spec(READING))
    stage.get("/x")
    key = stage.root / "app-state" / "session.key"
    assert key.read_text() == "own"
    stage.serve(stage.spec(READING))
    stage.get("/x")
    assert key.read_text() == "own"
