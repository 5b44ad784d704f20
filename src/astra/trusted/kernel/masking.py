"""How secret values inside text are replaced before the text is shown or kept.

It replaces private keys, well-known token shapes, and the values of environment-style assignments
whose name sounds secret. The number of lines stays the same, so that line numbers stay true, and
masking twice changes nothing. The ledger masks whatever is appended to it (`chain.link`), because
the chain forgets nothing.

>>> mask("export DB_PASSWORD=hunter2")
'export DB_PASSWORD=[masked]'
>>> redact({"api_key": "abc", "note": "fine"})
{'api_key': '[masked]', 'note': 'fine'}
"""

import re
from typing import Any, cast

MASK = "[masked]"
DEEPEST_NESTING = 64


def mask(text: str) -> str:
    """Replace every secret value in the text; the number of lines stays the same."""
    present = [hint for hint in _HINTS if hint in text]  # each is looked for once: texts are long
    if not present:
        return text
    for hints, pattern in _SHAPES:
        if any(hint in present for hint in hints):
            text = pattern.sub(_mask_match, text)
    return text


def may_hold_secrets(text: str) -> bool:
    """Tell quickly whether there is anything to look for; also right for the JSON form of texts."""
    for hint in _HINTS:  # asked of every record: a generator would cost as much again  # noqa: SIM110
        if hint in text:
            return True
    return False


def redact(value: Any) -> Any:
    """Copy a JSON value without its secrets: text is masked, members with secret names go."""
    return _redact_value(value, DEEPEST_NESTING)


def mask_value(value: Any, depth: int = DEEPEST_NESTING) -> Any:
    """Copy a JSON value with every text in it masked, names of members too."""
    if isinstance(value, str):
        return mask(value)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == 0:
        return MASK
    if isinstance(value, dict):
        members = cast("dict[Any, Any]", value)
        return {_mask_key(key): mask_value(member, depth - 1) for key, member in members.items()}
    return [mask_value(item, depth - 1) for item in cast("list[Any]", value)]


def _redact_value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return mask(value)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth == 0:
        return MASK
    if isinstance(value, dict):
        members = cast("dict[Any, Any]", value)
        return {
            _mask_key(key): _redact_member(key, member, depth - 1)
            for key, member in members.items()
        }
    return [_redact_value(item, depth - 1) for item in cast("list[Any]", value)]


def _mask_key(key: Any) -> Any:
    return mask(key) if isinstance(key, str) else key


def _redact_member(key: Any, value: Any, depth: int) -> Any:
    if value in (None, "", True, False) or not _SECRET_MEMBER.search(str(key)):
        return _redact_value(value, depth)
    return MASK


def _mask_match(found: re.Match[str]) -> str:
    prefix = found.groupdict().get("kept") or ""
    return prefix + MASK + "\n" * found.group()[len(prefix) :].count("\n")


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
# `PWD=/…` is the folder that a shell is in.
_ENVIRONMENT_LINE = re.compile(
    rf"(?P<kept>{_LEAD}(?!PWD=/)(?:{_SURE_NAME}|(?:[A-Z0-9_]{{0,64}}_)?(?:TOKEN|KEY|AUTH|PASS|PWD|DSN))=)"
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


def _compile_token(shape: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_]){shape}")


# Each pattern is tried only where one of its hints occurs, which is what keeps masking cheap:
# almost no text has one, and every text that is recorded or shown comes by here.
_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (("PRIVATE KEY",), _PRIVATE_KEY),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _compile_token(r"gh[pousr]_[A-Za-z0-9]{30,}")),
    (("github_pat_",), _compile_token(r"github_pat_[A-Za-z0-9_]{22,}")),
    (("glpat-",), _compile_token(r"glpat-[A-Za-z0-9_-]{20,}")),
    (("AKIA", "ASIA"), _compile_token(r"A[KS]IA[A-Z0-9]{16}")),
    (("AIza",), _compile_token(r"AIza[A-Za-z0-9_-]{35}")),
    (("ya29.",), _compile_token(r"ya29\.[A-Za-z0-9_-]{20,}")),
    (("xox",), _compile_token(r"xox[a-z]-[A-Za-z0-9-]{10,}")),
    (("sk-",), _compile_token(r"sk-[A-Za-z0-9_-]{20,}")),
    (("k_live_", "k_test_"), _compile_token(r"[srp]k_(?:live|test)_[A-Za-z0-9]{16,}")),
    (("npm_",), _compile_token(r"npm_[A-Za-z0-9]{36,}")),
    (("pypi-",), _compile_token(r"pypi-[A-Za-z0-9_-]{32,}")),
    (("hf_",), _compile_token(r"hf_[A-Za-z0-9]{30,}")),
    (("SG.",), _compile_token(r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}")),
    (("dop_v1_",), _compile_token(r"dop_v1_[a-f0-9]{64}")),
    (("hvs.",), _compile_token(r"hvs\.[A-Za-z0-9_-]{20,}")),
    (("eyJ",), _compile_token(r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    (("AGE-SECRET-KEY-",), _compile_token(r"AGE-SECRET-KEY-1[A-Z0-9]{50,}")),
    (("://",), _LOGIN_IN_ADDRESS),
    (("earer ", "EARER ", "asic ", "ASIC "), _HEADER),
    (_NAME_HINTS, _ENVIRONMENT_LINE),
    (_NAME_HINTS, _QUOTED_ASSIGNMENT),
)
_HINTS = tuple(dict.fromkeys(hint for hints, _shape in _SHAPES for hint in hints))
