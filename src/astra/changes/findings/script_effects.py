"""What added JavaScript, TypeScript and shell lines can newly do, read line by line.

Conservative: a word in a comment or a text is found too. A reviewer who looks at one line too many
loses a moment; a line not shown may cost more.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity

SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
_DANGER, _WARNING = Severity.DANGER, Severity.WARNING
_LONGEST_READ = 20_000


@dataclass(frozen=True)
class _Shape:
    rule: str
    severity: Severity
    meaning: str
    pattern: re.Pattern[str]


def _make_shape(rule: str, severity: Severity, meaning: str, pattern: str) -> _Shape:
    return _Shape(rule, severity, meaning, re.compile(pattern))


def _module_pattern(*names: str) -> str:
    alternatives = "|".join(map(re.escape, names))
    return rf"""["'`](?:node:)?(?:{alternatives})(?:/[^"'`]*)?["'`]"""


_IN_SCRIPTS = (
    _make_shape(
        "runs-programs",
        _WARNING,
        "can start other programs",
        _module_pattern(
            "child_process", "cluster", "worker_threads", "execa", "shelljs", "cross-spawn"
        )
        + r"|\b(?:exec|spawn|fork)(?:File)?(?:Sync)?\s*\(|\bDeno\.(?:run|Command)|\bBun\.spawn",
    ),
    _make_shape(
        "opens-sockets",
        _WARNING,
        "can open sockets",
        _module_pattern("net", "dgram", "tls", "ws", "socket.io") + r"|\bnew\s+WebSocket\b",
    ),
    _make_shape(
        "reaches-network",
        _WARNING,
        "can talk to other machines",
        _module_pattern("http", "https", "http2", "axios", "got", "node-fetch", "undici", "request")
        + r"|\bfetch\s*\(|\bXMLHttpRequest\b|\bsendBeacon\b|\bEventSource\b",
    ),
    _make_shape(
        "writes-files",
        _WARNING,
        "can change files",
        r"\b(?:writeFile|appendFile|createWriteStream|unlink|rename|copyFile|mkdir|rmdir|rm|chmod"
        r"|symlink|truncate)(?:Sync)?\s*\(|" + _module_pattern("fs-extra", "rimraf"),
    ),
    _make_shape(
        "runs-text-as-code",
        _DANGER,
        "runs text as code",
        r"\beval\b|\bnew\s+Function\b|\bFunction\s*\(|\bset(?:Timeout|Interval)\s*\(\s*[\"'`]"
        r"|\bconstructor\s*\.\s*constructor\b|" + _module_pattern("vm", "vm2"),
    ),
    _make_shape(
        "imports-by-name",
        _DANGER,
        "imports what a text names",
        r"\b(?:require|import)\s*\(\s*(?![\"'][^\"']*[\"']\s*\))|\brequire\.cache\b|\bModule\._load\b",
    ),
    _make_shape(
        "calls-native-code",
        _DANGER,
        "calls native code",
        _module_pattern("ffi-napi", "koffi") + r"|\bprocess\.(?:dlopen|binding)\b",
    ),
    _make_shape(
        "reads-environment",
        _WARNING,
        "reads the environment",
        r"\bprocess\.env\b|\bimport\.meta\.env\b|\bDeno\.env\b|" + _module_pattern("dotenv"),
    ),
    _make_shape(
        "writes-markup",
        _WARNING,
        "puts text into a page as markup",
        r"\binnerHTML\b|\bouterHTML\b|\bdangerouslySetInnerHTML\b|\bdocument\.write\b|\binsertAdjacentHTML\b",
    ),
    _make_shape(
        "reflects",
        _DANGER,
        "reaches around names",
        r"\b__proto__\b|\bprocess\.mainModule\b|\bglobalThis\s*\[",
    ),
)
_IN_SHELL = (
    _make_shape(
        "runs-text-as-code",
        _DANGER,
        "runs text as code",
        r"\beval\b|\|\s*(?:sudo\s+)?(?:ba|da|z|k)?sh\b|\bsource\s+<\(|\b(?:ba)?sh\s+-c\b",
    ),
    _make_shape(
        "reaches-network",
        _WARNING,
        "can talk to other machines",
        r"\b(?:curl|wget|nc|ncat|netcat|socat|ssh|scp|rsync|ftp|telnet|dig)\b|/dev/(?:tcp|udp)/",
    ),
    _make_shape(
        "writes-files",
        _WARNING,
        "can change files",
        r"\b(?:rm|dd|mkfs\S*|shred|truncate|chmod|chown|mv|tee)\s|>{1,2}\s*[^&\s]",
    ),
    _make_shape(
        "installs-software",
        _WARNING,
        "installs other code",
        r"\b(?:pip3?|npm|yarn|pnpm|apt|apt-get|brew|cargo|gem|go|uv)\s+(?:-\S+\s+)*"
        r"(?:install|add|get|ci|i)\b",
    ),
    _make_shape(
        "becomes-root",
        _DANGER,
        "asks for more rights",
        r"\b(?:sudo|su|doas|setcap|pkexec)\b|\bchmod\s+\S*[+ugo]*s",
    ),
    _make_shape(
        "runs-later",
        _DANGER,
        "arranges to run later",
        r"\bcrontab\b|\bat\s+now\b|\bnohup\b|\bsystemctl\b|\bdisown\b|\.bashrc\b|\.profile\b",
    ),
    _make_shape(
        "reads-environment",
        _WARNING,
        "reads the environment",
        r"\bprintenv\b|^\s*env\s*(?:\||$)|/proc/\S*environ",
    ),
    _make_shape(
        "hides-text",
        _DANGER,
        "unpacks hidden text",
        r"\bbase64\s+(?:-d|-D|--decode)\b|\bxxd\s+-r\b|\\x[0-9a-f]{2}\\x[0-9a-f]{2}",
    ),
)


def examine(source: Source) -> Iterator[Finding]:
    shapes = _IN_SCRIPTS if source.language in SCRIPTS else ()
    shapes = _IN_SHELL if source.language == "shell" else shapes
    for number in sorted(source.added_numbers) if shapes else ():
        line = source.new_lines[number - 1][:_LONGEST_READ]
        for shape in shapes:
            if match := shape.pattern.search(line):
                message = f"{match[0].strip()[:60]} {shape.meaning}"
                yield source.make_finding(shape.rule, shape.severity, number, message)
