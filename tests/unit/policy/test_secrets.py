import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import astra
from astra.trusted.kernel import masking
from astra.trusted.kernel.masking import MASK
from astra.trusted.policy.secrets import SecretRules

DASHES = "-" * 5
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


def private_key(kind: str = "RSA ", *, end: bool = True) -> str:
    body = "\n".join(["MIIEpAIBAAKCAQEA7bq0Xz" * 3] * 4)
    tail = f"\n{DASHES}END {kind}PRIVATE KEY{DASHES}" if end else ""
    return f"{DASHES}BEGIN {kind}PRIVATE KEY{DASHES}\n{body}{tail}"


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "a/b/.env",
        ".ENV",
        ".Env.Production",
        ".env.local",
        "prod.env",
        ".env.",
        ".env ",
        " .env",
        "\uff0eenv",
        ".\uff45nv",
        "id_rsa",
        "keys/ID_ED25519",
        "id_work",
        "id_rsa.bak",
        "server.pem",
        "tls/private.KEY",
        "store.p12",
        ".netrc",
        "_netrc",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        ".pgpass",
        ".aws/config",
        "home/.AWS/credentials",
        ".kube/config",
        ".docker/config.json",
        ".config/gcloud/x.db",
        ".config/gh/hosts.yml",
        ".ssh/known_hosts",
        ".gnupg/x",
        "credentials",
        "credentials.json",
        "my-service-account.json",
        "client_secret.json",
        "secrets.yaml",
        "token",
        "access_token.txt",
        "sch_1234.token",
        "operator.key",
        "operator_key.json",
        "terraform.tfstate",
        "/etc/shadow",
        "vault.kdbx",
        ".envrc",
    ],
)
def test_a_secret_path_is_known_in_any_case_and_spelling(path: str) -> None:
    assert SecretRules().rule_for(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        ".ENV.Example",
        ".env.sample",
        "src/environment.py",
        "id_rsa.pub",
        "src/id_tools.py",
        "src/tokens.py",
        "design-tokens.json",
        "src/credentials/__init__.py",
        "docs/secrets.md",
        "src/astra/trusted/policy/secrets.py",
        "keyboard.py",
        "monkey.txt",
        ".docker/Dockerfile",
        "README.md",
        "certifi/cacert.pem",
    ],
)
def test_ordinary_files_are_not_secrets(path: str) -> None:
    assert SecretRules().rule_for(path) is None


def test_a_folder_that_is_called_like_a_secret_file_hides_nothing_below_it() -> None:
    rules = SecretRules(patterns=("vault/",))
    for path in ("src/token", "credentials", "lib/id_map"):
        assert rules.rule_for_folder(path) is None, path
    for path in (".aws", "home/.ssh/old", "a/vault"):
        assert rules.rule_for_folder(path), path


def test_other_rules_have_another_digest() -> None:
    assert SecretRules().digest == SecretRules().digest
    assert SecretRules().digest != SecretRules(patterns=("*.vault",)).digest


def test_configured_patterns_add_to_the_rules() -> None:
    rules = SecretRules(patterns=("*.vault", "private/**", "/srv/keys/*"))
    for path in ("a/b/X.Vault", "x.vault/inside", "a/private/b", "/srv/keys/k1", ".env"):
        assert rules.rule_for(path), path
    for path in ("a/privates/b", "srv/keys/k1", "vault.py"):
        assert rules.rule_for(path) is None, path


SHAPES = [
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "A1b2c3" * 6,
    "glpat-" + "x1y2z3w4v5u6t7s8r9q0",
    "AKIA" + "ABCDEFGH12345678",
    "AIza" + "a" * 35,
    "xoxb-" + "123456789012-abcdef",
    "sk-" + "ant-api03-" + "q" * 30,
    "sk_live_" + "a1" * 12,
    "npm_" + "a" * 36,
    "pypi-" + "AgEIcHlwaS5vcmc" * 3,
    "hf_" + "b" * 34,
    "SG." + "a" * 22 + "." + "b" * 43,
    "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + "." + "s" * 43,
    private_key(),
    private_key(""),
    private_key("OPENSSH "),
    private_key("ENCRYPTED ", end=False),
]


@pytest.mark.parametrize("secret", SHAPES)
def test_known_shapes_are_masked_wherever_they_stand(secret: str) -> None:
    for text in (secret, f"before {secret} after", f'x = "{secret}"', f"line\n{secret}\nline"):
        masked = masking.mask(text)
        assert MASK in masked
        assert secret not in masked
        assert secret[-12:] not in masked.replace("PRIVATE KEY", "")
        assert masked.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=[masked]"),
        ("export API_KEY='a b c' # note", "export API_KEY=[masked] # note"),
        ("a=1\nSECRET_KEY=xyz\nb=2", "a=1\nSECRET_KEY=[masked]\nb=2"),
        ('API_KEY = "abcdef"', "API_KEY = [masked]"),
        ("GITHUB_TOKEN=abc", "GITHUB_TOKEN=[masked]"),
        ("PWD=hunter2\nDB_PWD=/x", "PWD=[masked]\nDB_PWD=[masked]"),
        ("https://ada:pass@example.com/x", "https://ada:[masked]@example.com/x"),
        ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: Bearer [masked]"),
    ],
)
def test_values_of_secret_sounding_names_are_masked(text: str, masked: str) -> None:
    assert masking.mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        'API_KEY = os.environ["API_KEY"]',
        "DB_PASSWORD=$OTHER",
        "DB_PASSWORD=${OTHER}",
        "DB_PASSWORD=",
        'PRIMARY_KEY = "id"',
        "MAX_TOKENS=100",
        "PWD=/home/ada/agent",
        "def password(value): return value",
        'BEGIN = "-----BEGIN " + kind\nEND = 1',
        "http://localhost:8700/path",
        "a basic understanding of internationalization",
    ],
)
def test_ordinary_code_is_left_alone(text: str) -> None:
    assert masking.mask(text) == text


@given(st.text(max_size=200) | st.sampled_from(SHAPES) | st.from_regex(r"[A-Z_]+=\S{1,9}"))
def test_masking_twice_changes_nothing_and_keeps_every_line(text: str) -> None:
    once = masking.mask(text)
    assert masking.mask(once) == once
    assert once.count("\n") == text.count("\n")


def test_masking_a_hostile_megabyte_ends() -> None:
    for text in (
        "SECRET" * 200_000,
        f"{DASHES}BEGIN PRIVATE KEY{DASHES}" * 40_000,
        "://a:" * 200_000,
        "eyJ" + "a." * 500_000,
        "A_" * 500_000 + "=",
    ):
        assert len(masking.mask(text)) <= len(text)


def test_redaction_removes_members_with_secret_names_and_masks_text() -> None:
    found = masking.redact(
        {
            "password": "x",
            "Access-Token": ["a"],
            "apiKey": {"nested": "v"},
            "max_tokens": 7,
            "password_set": True,
            "note": f"use {SHAPES[0]} now",
            "list": [{"cookie": "c"}, "fine"],
            "authorization": None,
        }
    )
    assert found == {
        "password": MASK,
        "Access-Token": MASK,
        "apiKey": MASK,
        "max_tokens": 7,
        "password_set": True,
        "note": f"use {MASK} now",
        "list": [{"cookie": MASK}, "fine"],
        "authorization": None,
    }


def test_redaction_ends_on_endless_nesting() -> None:
    value: list[object] = []
    for _ in range(500):
        value = [value]
    assert MASK in json.dumps(masking.redact(value))


@given(JSON_VALUES)
def test_redaction_keeps_json_and_does_not_touch_its_argument(value: object) -> None:
    before = json.dumps(value)
    json.dumps(masking.redact(value))
    assert json.dumps(value) == before


def test_no_source_of_astra_is_taken_for_a_secret() -> None:
    """What is one is in no box and no release, so Astra could not test or run itself."""
    source = Path(astra.__file__).parent
    files = [path.relative_to(source).as_posix() for path in source.rglob("*.py")]
    assert [name for name in files if SecretRules().rule_for(name)] == []
