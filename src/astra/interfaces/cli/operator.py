"""`astra config show|check|sign` and `astra operator show|rotate`."""

import argparse
from typing import Any

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import NotFound
from astra.trusted.kernel.text import printable


def configure(parser: argparse.ArgumentParser, command: str) -> None:
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    if command == "config":
        actions.add_parser("show", help="the configuration in force").set_defaults(run=show_config)
        actions.add_parser("sign", help="sign astra.toml as it is now").set_defaults(
            run=sign_config
        )
        actions.add_parser("check", help="try astra.toml in a box, signed or not").set_defaults(
            run=check_config
        )
        return
    actions.add_parser("show", help="the key in force").set_defaults(run=show_operator)
    rotate = actions.add_parser("rotate", help="make a new key; the old one signs it")
    rotate.add_argument(
        "--recovery", action="store_true", help="sign with the recovery key instead of the old key"
    )
    rotate.set_defaults(run=rotate_operator)


def show_config(context: Context) -> None:
    document = context.client().get("/api/config")
    context.console.print_result(
        document, printable(document["text"]), f"# {document['file']}: {document['state']}"
    )


def check_config(context: Context) -> int:
    """Try the configuration in boxes; the daemon does it, so that a stop ends it as well."""
    context.console.note("tests, build, start and health are tried in boxes; this may take minutes")
    document = context.client().post("/api/config/check")
    context.console.print_result(document, *_check_lines(context, document))
    return 0 if document["ok"] else 1


def _check_lines(context: Context, document: dict[str, Any]) -> list[str]:
    paint, lines = context.console.paint, list[str]()
    for item in document["items"]:
        mark = paint("ok     ", "green") if item["ok"] else paint("missing", "red")
        lines.append(f"  {mark} {item['name']:13} {printable(item['detail'])}")
        if item["fix"]:
            lines.append(f"          to mend it: {printable(item['fix'])}")
    verdict = "everything holds; to put it into force: astra config sign"
    return [*lines, verdict if document["ok"] else "mend these, then check again"]


def sign_config(context: Context) -> None:
    from astra.interfaces.cli.signing import sign_action
    from astra.trusted.files.data_root import DataRoot
    from astra.trusted.policy import contract
    from astra.trusted.settings import configuration

    path = DataRoot(context.settings.data_root).configuration
    try:
        text = path.read_text()
    except FileNotFoundError:
        raise NotFound(f"there is no {path}", next_step="write it, then sign it") from None
    configuration.parse(text)
    before = context.client().get("/api/config")
    for line in contract.diff_lines(before["text"], text):
        context.console.note(f"  {printable(line)}")
    authority = sign_action(context, contract.CONFIG_SIGNED, contract.content(text))
    body = {"text": text, "authority": authority, "seen": before["sha256"]}
    answer = context.client().post("/api/config", body)
    channels_without_address = context.client().get("/api/status")["notify"]["missing"]
    for name in channels_without_address:
        context.console.note(
            f"  notify: {printable(name)} has no address in .env, so nobody is told through it"
        )
    context.console.print_result(answer, f"signed, as record {answer['sequence']}")


def show_operator(context: Context) -> None:
    from astra.trusted.files import operators_key

    answer = context.client().get("/api/operator")
    path = operators_key.key_path(answer["root_id"])
    document = {**answer, "operator_key": str(path), "present": path.exists()}
    context.console.print_result(
        document, *(f"{name:13} {value}" for name, value in document.items())
    )


def rotate_operator(context: Context) -> None:
    """Write the new key first: a crash then leaves the old one in force and a spare file."""
    from astra.interfaces.cli import signing
    from astra.trusted.files import operators_key
    from astra.trusted.kernel import signatures
    from astra.trusted.kernel.signatures import KeyPair
    from astra.trusted.policy import authority as authorities

    root = context.client().get("/api/operator")
    throwaway = bool(root["throwaway"])
    signer = (
        KeyPair.from_seed(
            signatures.recovery_seed(context.console.ask_passphrase("recovery key: "))
        )
        if context.arguments.recovery
        else signing.unlock_operator_pair(context)
    )
    passphrase = signing.new_passphrase(context, throwaway=throwaway)
    pair = KeyPair.generate()
    content = {"new_key": pair.public}
    authority = signing.sign_with(context, signer, authorities.KEY_ROTATED, content)
    spare = operators_key.write_spare(root["root_id"], pair, passphrase)
    answer = context.client().post("/api/operator", {**content, "authority": authority})
    path = operators_key.promote_spare(spare)
    document = {**answer, "operator_key": str(path)}
    context.console.print_result(
        document, f"new key in force, as record {answer['sequence']}: {path}"
    )
