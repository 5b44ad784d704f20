"""P12, the pages: what Lighthouse says of the inbox and of a review, as on a middling phone.

Lighthouse comes from npm at the version below, into the virtual environment, at the first run that
is not `--quick`, which leaves this row out; it drives the system's Chromium. Where either is
missing, the row says so.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

from measuring import Target, is_quick, not_measured, report

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
import web

HERE = Path(__file__).parent
LIGHTHOUSE = "lighthouse@13.5.0"
INSTALLED = Path(sys.prefix) / "lighthouse"
PAGES = ("inbox", "review")
RUNS = 3
BARS = {"performance": 90, "accessibility": 100, "best-practices": 90}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def main() -> None:
    if why := "it takes minutes" if is_quick() else _missing():
        not_measured("P12 Lighthouse", why)
        return
    web.build()
    found = _scores()
    for page in PAGES:
        for kind, bar in BARS.items():
            score = median(each[kind] for each in found if each["page"] == page)
            target = Target(f"≥ {bar}", lambda value, _reference, bar=bar: value >= bar)
            report(f"P12 Lighthouse {kind}, {page} (of 100)", score, target=target)


def _missing() -> str:
    """Bring what is needed, or say what is not there."""
    if CHROMIUM is None:
        return "there is no Chromium"
    stamp = INSTALLED / "version.txt"
    if stamp.exists() and stamp.read_text() == LIGHTHOUSE:
        return ""
    try:
        _install()
    except subprocess.CalledProcessError:
        return "npm could not install Lighthouse; it needs a package registry"
    stamp.write_text(LIGHTHOUSE)
    return ""


def _install() -> None:
    INSTALLED.mkdir(exist_ok=True)
    command = [web.NODE, web.NPM, "install", "--prefix", INSTALLED, "--no-audit", "--no-fund"]
    command += ["--ignore-scripts", "--no-package-lock", LIGHTHOUSE]
    subprocess.run(command, env=_environment(), stdout=sys.stderr, check=True)


def _scores() -> list[dict[str, float]]:
    command = [web.NODE, HERE / "lighthouse.mjs", INSTALLED, str(RUNS), *PAGES]
    said = subprocess.run(command, env=_environment(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in said.stdout.splitlines()]


def _environment() -> dict[str, str]:
    path = f"{web.NODE.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    own = {"PATH": path, "ASTRA_PYTHON": sys.executable, "CHROMIUM": str(CHROMIUM)}
    return {**os.environ, **own}


if __name__ == "__main__":
    main()
