"""Scripts that start an app in a box once, ask for its health, and say how that went."""

START_PROBE = """
import os, socket, subprocess, sys, time, urllib.error, urllib.request
mode, port, path, seconds, *command = sys.argv[1:]
held = ()
if mode == "inherited":
    listener = socket.create_server(("127.0.0.1", int(port)))
    os.dup2(listener.fileno(), 3)
    held = (3,)
    command = ["/bin/sh", "-c", 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"', "sh", *command]
try:
    app = subprocess.Popen(command, pass_fds=held)
except OSError as error:
    sys.exit(f"it cannot be started: {error.strerror}")
end, last = time.monotonic() + float(seconds), "nothing answered"
while time.monotonic() < end:
    if app.poll() is not None:
        sys.exit(f"it ended by itself with exit code {app.returncode}")
    try:
        if mode != "alone":
            urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).close()
            sys.exit(0)
    except urllib.error.HTTPError as error:
        last = f"HTTP status {error.code}"
    except OSError as error:
        last = str(error)
    time.sleep(0.2)
sys.exit(0 if mode == "alone" else f"{path} was not healthy in {seconds} s: {last}")
"""

_LOOK = """
browser, picture = sys.argv[1:3]
del sys.argv[1:3]


def look(port):
    folder = os.path.dirname(picture)
    os.environ |= {"HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder}
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    words += ["--no-zygote", "--hide-scrollbars", "--window-size=1280,800", "--timeout=10000"]
    words += [f"--user-data-dir={folder}/browser", f"--screenshot={picture}"]
    words += [f"http://127.0.0.1:{port}/"]
    looked = subprocess.run([browser, *words], capture_output=True, text=True, timeout=120)
    if not os.path.exists(picture):
        sys.exit("the browser took no picture: " + looked.stderr.strip()[-300:])
"""
_HEALTHY = "            sys.exit(0)\n"


def _add_look(script: str) -> str:
    """Have the script look at the app before it ends well."""
    imports, _, body = script.strip().partition("\n")
    look = f"            look(port)\n{_HEALTHY}"
    return f"{imports}\n{_LOOK}{body.replace(_HEALTHY, look, 1)}\n"


SCREENSHOT_PROBE = _add_look(START_PROBE)
"""Starts an app as `START_PROBE` does, and has a browser take a picture once it is healthy."""
