"""Which paths are secrets, and how secret values inside text are masked.

A secret path is never listed, read, searched or granted, whatever its case or spelling. Masking is
for text that is otherwise fine to show: it replaces private keys, well-known token shapes, and
the values of environment-style assignments whose name sounds secret. It keeps the number of lines,
so that line numbers stay true, and masking twice changes nothing.

>>> SecretRules().rule_for("deploy/.Env.production")
'environment file'
>>> SecretRules().rule_for("deploy/.env.example") is None
True
>>> mask("export DB_PASSWORD=hunter2")
'export DB_PASSWORD=[masked]'
>>> redact({"api_key": "abc", "note": "fine"})
{'api_key': '[masked]', 'note': 'fine'}
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

from astra.trusted.policy import globs, paths
from astra.trusted.policy.globs import Glob

MASK = "[masked]"
DEEPEST_NESTING = 64

_FOLDERS = {
    ".ssh": "SSH folder",
    ".gnupg": "GnuPG folder",
    ".aws": "cloud credentials",
    ".azure": "cloud credentials",
    ".gcloud": "cloud credentials",
    ".oci": "cloud credentials",
    ".kube": "cluster credentials",
    ".password-store": "password store",
    ".terraform.d": "cloud credentials",
}
_FOLDER_PAIRS = {
    (".docker", "config.json"): "registry credentials",
    (".config", "gcloud"): "cloud credentials",
    (".config", "gh"): "forge credentials",
    (".config", "astra"): "operator key",
    (".config", "rclone"): "cloud credentials",
    ("share", "keyrings"): "keyring",
}
_SECOND_NAMES = frozenset(second for _, second in _FOLDER_PAIRS)
_NAMES = {
    ".netrc": "login file",
    "_netrc": "login file",
    ".npmrc": "registry credentials",
    ".pypirc": "registry credentials",
    ".yarnrc.yml": "registry credentials",
    ".dockercfg": "registry credentials",
    ".git-credentials": "forge credentials",
    ".pgpass": "database password",
    ".my.cnf": "database password",
    ".htpasswd": "password file",
    ".vault-token": "token",
    ".bash_history": "shell history",
    ".zsh_history": "shell history",
    ".python_history": "shell history",
    ".psql_history": "shell history",
    "credentials": "credentials file",
    "shadow": "password file",
    "gshadow": "password file",
    "master.key": "private key",
}
_EXTENSIONS = {
    "pem": "private key",
    "key": "private key",
    "p8": "private key",
    "p12": "key store",
    "pfx": "key store",
    "pkcs12": "key store",
    "jks": "key store",
    "keystore": "key store",
    "kdb": "password store",
    "kdbx": "password store",
    "ppk": "private key",
    "token": "token",
    "tfstate": "cloud credentials",
}
_NAME_SHAPES = (
    ("environment file", re.compile(r"\.env(?:\..+)?|.+\.env")),
    ("private key", re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-].*)?|id_[^.]+")),
    ("operator key", re.compile(r"(?:operator|checkpoint|recovery)[-_.]?key(?:[-_.].*)?")),
    (
        "credentials file",
        re.compile(
            r"(?:.+[-_.])?(?:credentials?|client[-_]secrets?|service[-_]account(?:[-_]key)?)"
            r"\.(?:json|toml|ya?ml|ini|csv|txt)"
        ),
    ),
    ("secrets file", re.compile(r"\.?secrets?\.(?:json|toml|ya?ml|ini|env|txt)|\.secrets?")),
    (
        "token",
        re.compile(
            r"\.?(?:(?:access|api|auth|bot|gh|github|gitlab|hf|npm|pypi|refresh|session|slack|vault)"
            r"[-_])?token(?:\.(?:txt|json))?"
        ),
    ),
)
_HARMLESS = re.compile(
    r"\.env\.(?:example|sample|template)|(?:example|sample|template)\.env|.+\.pub"
)


@dataclass(frozen=True)
class SecretRules:
    """The built-in rules, and more patterns from the signed configuration; patterns only add."""

    patterns: tuple[str, ...] = ()
    _globs: tuple[Glob, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        compiled = tuple(_pattern(paths.fold(pattern)) for pattern in self.patterns)
        object.__setattr__(self, "_globs", compiled)

    def rule_for(self, text: str) -> str | None:
        """Name the rule that makes this path a secret, or None when it is not one."""
        folded = paths.fold(text)
        names = _names(folded)
        rule = _folder_rule(names) or _name_rule(names[-1])
        if rule is None and self._globs:
            return self._pattern_rule(names, absolute=folded.startswith("/"))
        return rule

    def _pattern_rule(self, names: list[str], *, absolute: bool) -> str | None:
        """Match the patterns against the path and each folder above it."""
        for count in range(1, len(names) + 1):
            place = "/".join(names[:count])
            for glob in self._globs:
                if glob.matches(place) or (absolute and glob.matches(f"/{place}")):
                    return "configured pattern"
        return None


def _pattern(text: str) -> Glob:
    """Read a pattern; one that does not start at the root speaks of every folder."""
    return globs.parse_glob(text if text.startswith(("/", "**/")) else f"**/{text}")


def _names(folded: str) -> list[str]:
    """Split a path into names, without the trailing dots and spaces some systems ignore."""
    names = folded.strip("/").split("/")
    if " " in folded or "./" in folded or folded.endswith("."):
        return [name.strip(" ").rstrip(". ") for name in names]
    return names


def _folder_rule(names: list[str]) -> str | None:
    if not _FOLDERS.keys().isdisjoint(names):
        return next(_FOLDERS[name] for name in names if name in _FOLDERS)
    if _SECOND_NAMES.isdisjoint(names):
        return None
    return next((_FOLDER_PAIRS[pair] for pair in pairwise(names) if pair in _FOLDER_PAIRS), None)


@lru_cache(maxsize=8192)
def _name_rule(name: str) -> str | None:
    if rule := _NAMES.get(name):
        return rule
    stem, dot, extension = name.rpartition(".")
    if dot and stem and extension in _EXTENSIONS:
        return _EXTENSIONS[extension]
    for rule, shape in _NAME_SHAPES:
        if shape.fullmatch(name):
            return None if _HARMLESS.fullmatch(name) else rule
    return None


def mask(text: str) -> str:
    """Replace every secret value in the text; the number of lines stays the same."""
    for hints, pattern in _SHAPES:
        if any(hint in text for hint in hints):
            text = pattern.sub(_masked, text)
    return text


def redact(value: Any) -> Any:
    """Copy a JSON value without its secrets: text is masked, members with secret names go."""
    return _redact(value, DEEPEST_NESTING)


def _redact(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return mask(value)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == 0:
        return MASK
    if isinstance(value, dict):
        members = cast("dict[Any, Any]", value)
        return {_key(key): _member(key, member, depth - 1) for key, member in members.items()}
    return [_redact(item, depth - 1) for item in cast("list[Any]", value)]


def _key(key: Any) -> Any:
    return mask(key) if isinstance(key, str) else key


def _member(key: Any, value: Any, depth: int) -> Any:
    if value in (None, "", True, False) or not _SECRET_MEMBER.search(str(key)):
        return _redact(value, depth)
    return MASK


def _masked(found: re.Match[str]) -> str:
    kept = found.groupdict().get("kept") or ""
    return kept + MASK + "\n" * found.group()[len(kept) :].count("\n")


_SECRET_MEMBER = re.compile(
    r"(?:pass(?:word|wd|phrase|code)|secret|token|credentials?|authorization|cookie"
    r"|(?:api|access|private|secret|signing|encryption|recovery)[-_ ]?key)$",
    re.IGNORECASE,
)
_KEY_KIND = r"(?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PRIVATE_KEY = re.compile(
    rf"-----BEGIN {_KEY_KIND}"
    r"(?:(?!-----(?:BEGIN|END))[\sA-Za-z0-9+/=\\,:;\"'()|>#.-]){40,}+"
    rf"(?:-----END {_KEY_KIND})?"
)
_SURELY = r"PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL|PRIVATE_?KEY|API_?KEY|ACCESS_?KEY"
_LEAD = r"^[ \t]{0,64}(?:export[ \t]+|set[ \t]+|-[ \t]+)?"
_SURE_NAME = rf"[A-Z0-9_]{{0,64}}(?:{_SURELY})[A-Z0-9_]{{0,64}}"
# Left alone: references to a variable, and a value that is masked already.
_A_VALUE = r"(?!\$|\[masked\]|[\"']?\$\{|[\"']\[masked\])"
_ENVIRONMENT_LINE = re.compile(
    rf"(?P<kept>{_LEAD}(?:{_SURE_NAME}|(?:[A-Z0-9_]{{0,64}}_)?(?:TOKEN|KEY|AUTH|PASS|PWD|DSN))=)"
    rf"{_A_VALUE}(?:\"[^\"\n]+\"?|'[^'\n]+'?|[^\s#\"'][^\s#]*)",
    re.MULTILINE,
)
_QUOTED_ASSIGNMENT = re.compile(
    rf"(?P<kept>{_LEAD}{_SURE_NAME}[ \t]*[=:][ \t]*){_A_VALUE}(?:\"[^\"\n]+\"?|'[^'\n]+'?)",
    re.MULTILINE,
)
_HEADER = re.compile(
    r"(?P<kept>\b(?:Bearer|Basic)[ ]+)(?=[A-Za-z+/._~-]*[0-9=])[A-Za-z0-9+/._~=-]{16,}",
    re.IGNORECASE,
)
_LOGIN_IN_ADDRESS = re.compile(
    r"(?P<kept>://[^\s/:@\"'<>{}$]{0,64}:)(?!\[masked\])[^\s/@\"'<>{}$]{1,256}(?=@)"
)
_NAME_HINTS = ("PASS", "SECRET", "CREDENTIAL", "KEY", "TOKEN", "AUTH", "PWD", "DSN")


def _token(shape: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_]){shape}")


# Each pattern is tried only where one of its hints occurs, which is what keeps masking cheap.
_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (("PRIVATE KEY",), _PRIVATE_KEY),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _token(r"gh[pousr]_[A-Za-z0-9]{30,}")),
    (("github_pat_",), _token(r"github_pat_[A-Za-z0-9_]{22,}")),
    (("glpat-",), _token(r"glpat-[A-Za-z0-9_-]{20,}")),
    (("AKIA", "ASIA"), _token(r"A[KS]IA[A-Z0-9]{16}")),
    (("AIza",), _token(r"AIza[A-Za-z0-9_-]{35}")),
    (("ya29.",), _token(r"ya29\.[A-Za-z0-9_-]{20,}")),
    (("xox",), _token(r"xox[a-z]-[A-Za-z0-9-]{10,}")),
    (("sk-",), _token(r"sk-[A-Za-z0-9_-]{20,}")),
    (("k_live_", "k_test_"), _token(r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    (("npm_",), _token(r"npm_[A-Za-z0-9]{36,}")),
    (("pypi-",), _token(r"pypi-[A-Za-z0-9_-]{32,}")),
    (("hf_",), _token(r"hf_[A-Za-z0-9]{30,}")),
    (("SG.",), _token(r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}")),
    (("dop_v1_",), _token(r"dop_v1_[a-f0-9]{64}")),
    (("hvs.",), _token(r"hvs\.[A-Za-z0-9_-]{20,}")),
    (("eyJ",), _token(r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    (("AGE-SECRET-KEY-",), _token(r"AGE-SECRET-KEY-1[A-Z0-9]{50,}")),
    (("://",), _LOGIN_IN_ADDRESS),
    (("earer ", "EARER ", "asic ", "ASIC "), _HEADER),
    (_NAME_HINTS, _ENVIRONMENT_LINE),
    (_NAME_HINTS, _QUOTED_ASSIGNMENT),
)
