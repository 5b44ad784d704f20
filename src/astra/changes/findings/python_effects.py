"""What added Python code can newly do: start programs, reach the network, write files, hide intent.

Every mention counts, not only calls: `run = os.system` is worth a look as much as `os.system(x)`.
Names are followed through imports. In test files the ordinary effects are only noted, since tests
run in a box.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from astra.changes.findings.python_names import map_imported_names, spell_dotted_name
from astra.changes.findings.source import Source
from astra.trusted.changes.evidence import Finding, Severity
from astra.trusted.policy.secrets import SecretRules

_DANGER, _WARNING, _INFO = Severity.DANGER, Severity.WARNING, Severity.INFO


@dataclass(frozen=True)
class _Effect:
    rule: str
    severity: Severity
    meaning: str
    shape: re.Pattern[str]


def _make_effect(rule: str, severity: Severity, meaning: str, *names: str) -> _Effect:
    """Match a dotted name, or anything below it; a name that ends in `*` is a beginning."""
    shapes = [
        re.escape(n[:-1]) + ".*" if n.endswith("*") else re.escape(n) + r"(?:\..*)?" for n in names
    ]
    return _Effect(rule, severity, meaning, re.compile("|".join(shapes)))


_EFFECTS = (
    _make_effect(
        "runs-programs",
        _WARNING,
        "can start other programs",
        *("subprocess", "os.system", "os.popen", "os.exec*", "os.spawn*", "os.posix_spawn*"),
        *("os.fork*", "pty", "multiprocessing", "asyncio.create_subprocess*", "pexpect", "sh"),
    ),
    _make_effect(
        "opens-sockets",
        _WARNING,
        "can open sockets",
        *("socket", "socketserver", "ssl", "asyncio.open_connection", "asyncio.start_server"),
        *("asyncio.open_unix_connection", "asyncio.start_unix_server", "selectors"),
    ),
    _make_effect(
        "reaches-network",
        _WARNING,
        "can talk to other machines",
        *("requests", "httpx", "httpx2", "aiohttp", "urllib.request", "urllib3", "http.client"),
        *("http.server", "ftplib", "smtplib", "poplib", "imaplib", "telnetlib", "xmlrpc"),
        *("paramiko", "websockets", "websocket", "grpc", "boto3", "pycurl", "dns", "webbrowser"),
    ),
    _make_effect(
        "writes-files",
        _WARNING,
        "can change files",
        *("shutil", "os.remove", "os.unlink", "os.rename*", "os.replace", "os.mkdir"),
        *("os.makedirs", "os.rmdir", "os.removedirs", "os.chmod", "os.chown", "os.link"),
        *("os.symlink", "os.truncate", "os.open", "os.write", "os.mknod", "os.mkfifo"),
    ),
    _make_effect(
        "runs-text-as-code",
        _DANGER,
        "runs text as code",
        *("eval", "exec", "compile", "builtins.eval", "builtins.exec", "builtins.compile"),
        *("code.interact", "code.InteractiveInterpreter", "codeop", "timeit", "cProfile.run"),
    ),
    _make_effect(
        "imports-by-name",
        _DANGER,
        "imports what a text names, or changes how imports are found",
        *("__import__", "builtins.__import__", "importlib.import_module", "importlib.util"),
        *("importlib.machinery", "importlib.reload", "runpy", "imp", "zipimport", "pkgutil"),
        *("sys.path", "sys.meta_path", "sys.path_hooks", "sys.modules", "site.addsitedir"),
    ),
    _make_effect(
        "ends-at-once",
        _DANGER,
        "ends the whole program at once, and the run of its tests with it",
        *("os._exit", "os.abort", "os.kill", "os.killpg", "signal.raise_signal", "faulthandler"),
    ),
    _make_effect(
        "calls-native-code", _DANGER, "calls native code", "ctypes", "cffi", "_ctypes", "mmap"
    ),
    _make_effect(
        "reads-pickles",
        _DANGER,
        "turns bytes into objects, which can run code",
        *("pickle", "_pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"),
        *("yaml.load", "yaml.unsafe_load", "yaml.full_load", "jsonpickle", "torch.load"),
    ),
    _make_effect(
        "reads-environment",
        _WARNING,
        "reads the environment or stored secrets",
        *("os.environ*", "os.getenv*", "dotenv", "keyring", "getpass", "netrc", "pwd", "spwd"),
    ),
    _make_effect(
        "reflects",
        _DANGER,
        "reaches around names, which hides what it does",
        *(
            "__builtins__",
            "globals",
            "builtins",
            "gc.get_objects",
            "sys._getframe",
            "inspect.stack",
        ),
        *("sys.settrace", "sys.setprofile", "sys.addaudithook", "atexit", "threading.settrace"),
    ),
)
_QUICK = re.compile("|".join(effect.shape.pattern for effect in _EFFECTS))
_IN_TESTS = frozenset({"runs-programs", "opens-sockets", "reaches-network", "writes-files"})
_WRITING_METHODS = frozenset(
    {"write_text", "write_bytes", "rmdir", "symlink_to", "hardlink_to", "chmod", "lchmod"}
)
_REFLECTING = frozenset(
    {"__subclasses__", "__globals__", "__builtins__", "__code__", "__bases__", "__mro__"}
)
_READING_MODES = frozenset({"r", "rb", "rt", "br", "tr", "U", "rU"})
_SENSITIVE = frozenset({"os", "sys", "subprocess", "builtins", "importlib", "socket", "shutil"})
_MODE_PLACE = 1
_LOOKED_AT = (ast.Import, ast.ImportFrom, ast.Attribute, ast.Name, ast.Call, ast.Constant)


def examine(source: Source) -> Iterator[Finding]:
    if source.language != "python" or not source.added_numbers:
        return
    names = map_imported_names(source.new_nodes)
    reported: set[tuple[str, int]] = set()
    for node in source.new_nodes:
        if not isinstance(node, _LOOKED_AT) or not source.is_added(node):
            continue
        for rule, severity, meaning in _find_effects(node, names):
            line = _first_added_line(source, node)
            if (rule, line) not in reported:
                reported.add((rule, line))
                usual = source.is_test and rule in _IN_TESTS
                yield source.make_finding(rule, _INFO if usual else severity, line, meaning)


def _first_added_line(source: Source, node: ast.AST) -> int:
    """Give the first new line of a node that may begin on an old one."""
    first = getattr(node, "lineno", 0)
    last = getattr(node, "end_lineno", None) or first
    return next((n for n in range(first, last + 1) if n in source.added_numbers), first)


def _find_effects(node: ast.AST, names: dict[str, str]) -> Iterator[tuple[str, Severity, str]]:
    for name in _list_mentions(node, names):
        if _QUICK.fullmatch(name):
            for effect in _EFFECTS:
                if effect.shape.fullmatch(name):
                    yield effect.rule, effect.severity, f"{name} {effect.meaning}"
    if isinstance(node, ast.Attribute) and node.attr in _REFLECTING:
        yield "reflects", _DANGER, f"{node.attr} reaches around names, which hides what it does"
    if isinstance(node, ast.Call):
        yield from _call_effects(node, names)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _named_secret(node.value)


def _list_mentions(node: ast.AST, names: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call):
        yield spell_dotted_name(node.func, names)
    elif isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id in names):
        yield spell_dotted_name(node, names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id


def _call_effects(node: ast.Call, names: dict[str, str]) -> Iterator[tuple[str, Severity, str]]:
    function = spell_dotted_name(node.func, names)
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    is_function = function in {"open", "io.open", "builtins.open", "codecs.open"}
    is_method = method == "open" and function not in {"os.open", "webbrowser.open"}
    if (is_function and _may_write(node, 1)) or (is_method and _may_write(node, 0)):
        yield "writes-files", _WARNING, "open can change a file with this mode"
    elif method in _WRITING_METHODS:
        yield "writes-files", _WARNING, f"{method} can change files"
    if function in {"getattr", "setattr", "delattr"} and node.args:
        subject = spell_dotted_name(node.args[0], names)
        if subject.partition(".")[0] in _SENSITIVE:
            yield "reflects", _DANGER, f"{function} on {subject} hides what it does"


def _may_write(node: ast.Call, place: int) -> bool:
    """Tell whether the mode is given and is not plainly one for reading."""
    mode_arguments = [keyword.value for keyword in node.keywords if keyword.arg in {"mode", None}]
    mode = (
        mode_arguments[0]
        if mode_arguments
        else (node.args[place] if len(node.args) > place else None)
    )
    if mode is None:
        return False
    if not isinstance(mode, ast.Constant) or not isinstance(mode.value, str):
        return bool(mode_arguments) or place == _MODE_PLACE
    return mode.value not in _READING_MODES and set(mode.value) <= set("rwxabtU+")


def _named_secret(text: str) -> Iterator[tuple[str, Severity, str]]:
    looks_like_path = len(text) <= _LONGEST_PATH and _PATH.fullmatch(text) is not None
    if looks_like_path and (rule := _SECRETS.rule_for(text)):
        yield "names-secret-file", _WARNING, f"names a file that is a secret ({rule})"


_LONGEST_PATH = 200
_PATH = re.compile(r"[^\s\0]*[./][^\s\0]*")
_SECRETS = SecretRules()
