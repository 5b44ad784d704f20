"""A machine that is alone has nothing of Postgres in it."""

import subprocess
import sys


def test_a_daemon_is_put_together_without_importing_the_database_library() -> None:
    program = "import sys, astra.bootstrap.build, astra.interfaces.daemon.app\n"
    program += "print('psycopg' in sys.modules)"
    words = [sys.executable, "-I", "-c", program]
    completed = subprocess.run(words, capture_output=True, text=True, check=True)
    assert completed.stdout.strip() == "False"
