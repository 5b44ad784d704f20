// The project that the stories are about: a small greeter with tests, and a server to deploy.
const settings = Array.from({ length: 40 }, (_, i) => `SETTING_${i} = ${i}`).join("\n");

const agent = `"""Answers people who write to us."""

from dataclasses import dataclass

GREETING = "Hello"
LONGEST_NAME = 60


def greet(name: str) -> str:
    return f"{GREETING}, {name}"


@dataclass(frozen=True)
class Question:
    """What somebody asked, and when they would like an answer."""

    asked_by: str
    text: str
    days: int = 3

    @property
    def urgent(self) -> bool:
        return self.days <= 1


def sorted_by_need(questions: list[Question]) -> list[Question]:
    """Put what is needed first in front."""
    return sorted(questions, key=lambda question: question.days)


def shortened(text: str, limit: int = 80) -> str:
    """Cut a text at a space, so that no word is torn."""
    if len(text) <= limit:
        return text
    return text[:limit].rsplit(" ", 1)[0] + " …"


def digest(questions: list[Question]) -> str:
    """Tell in a few lines what people want to know."""
    lines = [f"{len(questions)} open questions"]
    for question in sorted_by_need(questions):
        mark = "!" if question.urgent else "-"
        lines.append(f"{mark} {question.asked_by}: {shortened(question.text)}")
    return "\\n".join(lines)


def farewell(name: str) -> str:
    return f"Bye, {name}"
`;

const tests = `from agent import Question, digest, greet, shortened


def test_it_greets():
    assert greet("Ada").endswith("Ada")


def test_what_is_urgent_comes_first():
    said = digest([Question("Ada", "when?", 3), Question("Grace", "why?", 1)])
    assert said.splitlines()[1] == "! Grace: why?"


def test_no_word_is_torn():
    assert shortened("one two three", 8) == "one two …"
`;

const serve = `"""Greets over HTTP, on the socket that it inherits."""

import http.server
import os
import socket

from agent import greet

HEALTHY = True


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        well = HEALTHY or self.path != "/healthz"
        self.send_response(200 if well else 503)
        self.end_headers()
        self.wfile.write(greet("you").encode())

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers, bind_and_activate=False)
server.socket = socket.socket(fileno=int(os.environ.get("LISTEN_FDS_START", "3")))
server.serve_forever()
`;

export const TARGET = {
  "agent.py": agent,
  "serve.py": serve,
  "settings.py": `${settings}\n`,
  "tests/conftest.py": "import sys\n\nsys.path.insert(0, '.')\n",
  "tests/test_agent.py": tests,
};

/** What a change to it could look like: a better greeting, and something a reviewer should see. */
export const KINDER = {
  "agent.py": agent
    .replace("from dataclasses", "import subprocess\nfrom dataclasses")
    .replace('GREETING = "Hello"', 'GREETING = "Good day, dear"')
    .replace(
      'return f"Bye, {name}"\n',
      'say_aloud("Goodbye")\n    return f"Goodbye, {name}, and thank you"\n\n\n' +
        "def say_aloud(words: str) -> None:\n" +
        '    """Let whoever sits beside the machine hear it as well."""\n' +
        '    subprocess.run(f"espeak {words}", shell=True, check=False)\n',
    ),
  "docs/tone.md": "# Tone\n\nBe kind, be brief, say thank you.\n",
  "tests/test_agent.py":
    tests + '\n\ndef test_it_greets_kindly():\n    assert greet("Ada") == "Good day, dear, Ada"\n',
};

/** A small change to begin with. */
export const WELL = { "agent.py": agent.replace('GREETING = "Hello"', 'GREETING = "Good day"') };

/** Something that its tests cannot see: it says that it is well three times, and then never more. */
export const TIRED = {
  "serve.py": serve
    .replace("HEALTHY = True", "LOOKS = []")
    .replace("well = HEALTHY or", "LOOKS.append(self.path)\n        well = LOOKS.count('/healthz') <= 3 or"),
};

/** What the operator signs for it: how it is tested, how it runs, how long it is watched. */
export const contract = (python) => `[target]
branch = "trunk"
test_command = "${python} -m pytest -q --disable-plugin-autoload -p no:cacheprovider tests"

[app]
command = "${python} serve.py"
health_path = "/healthz"
watch_seconds = 2

[app.permissions]
network = "host"
`;
