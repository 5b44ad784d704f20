"""A signal to leave is heard, whichever thread of the process the kernel gives it to."""

import subprocess
import sys

PATIENCE = 240.0
PROGRAM = """
import os, signal, subprocess, threading
from astra.interfaces.leaving import wait_until_leaving

leaving = threading.Event()
signal.signal(signal.SIGTERM, lambda _number, _frame: leaving.set())

def start_processes():
    while True:
        subprocess.run(["/bin/true"])

for _ in range(4):
    threading.Thread(target=start_processes, daemon=True).start()
print("ready", flush=True)
wait_until_leaving(leaving)
os._exit(0)
"""


def test_a_signal_is_heard_while_threads_start_processes() -> None:
    """Without looking again, one of three such signals was never heard."""
    for _ in range(8):
        process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            process.terminate()
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
            process.communicate()
