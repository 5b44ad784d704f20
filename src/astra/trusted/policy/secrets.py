"""Which paths are secrets: the one rule for read tools, boxes, workspaces, releases and the clone.

A secret path is never listed, read, searched, granted or put before agent code, whatever its case
or spelling. The built-in rule grows by the signed `secret_patterns`; nothing takes away from it.
How secret values inside other text are masked is in `trusted/kernel/masking.py`.

>>> SecretRules().rule_for("deploy/.Env.production")
'environment file'
>>> SecretRules().rule_for("deploy/.env.example") is None
True
"""

import hashlib
import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from astra.trusted.policy import globs, paths
from astra.trusted.policy.globs import Glob

_VERSION = "1"  # raise it when a built-in rule changes
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
    ".envrc": "environment file",
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
# Bundles of public certificates, which clients read at every connection.
_PUBLIC_NAMES = frozenset({"cacert.pem", "ca-bundle.pem", "ca-certificates.pem"})
_HARMLESS = re.compile(
    r"\.env\.(?:example|sample|template)|(?:example|sample|template)\.env|.+\.pub"
)


@dataclass(frozen=True)
class SecretRules:
    """The built-in rules, and more patterns from the signed configuration; patterns only add."""

    patterns: tuple[str, ...] = ()
    _globs: tuple[Glob, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        compiled = tuple(_parse_pattern(paths.fold(pattern)) for pattern in self.patterns)
        object.__setattr__(self, "_globs", compiled)

    def rule_for(self, text: str) -> str | None:
        """Name the rule that makes this path a secret, or None when it is not one."""
        folded = paths.fold(text)
        names = _split_names(folded)
        rule = _folder_rule(names) or _name_rule(names[-1])
        if rule is None and self._globs:
            return self._pattern_rule(names, absolute=folded.startswith("/"))
        return rule

    def rule_for_folder(self, text: str) -> str | None:
        """Name the rule that makes everything below this folder a secret.

        A folder that is merely called like a secret file (`src/token/`) is none.
        """
        folded = paths.fold(text)
        names = _split_names(folded)
        return _folder_rule(names) or self._pattern_rule(names, absolute=folded.startswith("/"))

    @property
    def digest(self) -> str:
        """Name these rules, so that what was made under others can be told apart."""
        text = "\0".join((_VERSION, *self.patterns))
        return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]

    def _pattern_rule(self, names: list[str], *, absolute: bool) -> str | None:
        """Match the patterns against the path and each folder above it."""
        for count in range(1, len(names) + 1):
            place = "/".join(names[:count])
            for glob in self._globs:
                if glob.matches(place) or (absolute and glob.matches(f"/{place}")):
                    return "configured pattern"
        return None


def _parse_pattern(text: str) -> Glob:
    """Read a pattern; one that does not start at the root speaks of every folder."""
    return globs.parse_glob(text if text.startswith(("/", "**/")) else f"**/{text}")


def _split_names(folded: str) -> list[str]:
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
    if name in _PUBLIC_NAMES:
        return None
    if dot and stem and extension in _EXTENSIONS:
        return _EXTENSIONS[extension]
    for rule, shape in _NAME_SHAPES:
        if shape.fullmatch(name):
            return None if _HARMLESS.fullmatch(name) else rule
    return None
