"""`astra operators`: who may sign what, and how many it takes."""

import argparse
import json
from pathlib import Path
from typing import Any

from astra.interfaces.cli.main import Context
from astra.interfaces.cli.tables import render_table
from astra.trusted.kernel.errors import BadInput, Conflict, NotFound
from astra.trusted.kernel.text import one_line, printable

ROLES = {
    "full": ("everything",),
    "approver": ("approve", "deploy", "flags", "permissions", "plans", "start", "work"),
    "reviewer": ("approve:change",),
}
"""What the names of roles stand for; a record holds the duties, never the name."""
_TIERS = {"full": 2, "approver": 2, "reviewer": 1}
_QUORUMS = ("configuration", "operators", "protected")
_APPROVED, _CONFIGURED = "approval_granted", "config_signed"


def configure(parser: argparse.ArgumentParser, _command: str) -> None:
    parser.set_defaults(run=list_operators)
    actions = parser.add_subparsers(metavar="ACTION")
    actions.add_parser("list", help="every operator, the rules, and what waits").set_defaults(
        run=list_operators
    )
    request = actions.add_parser("request", help="make a key and ask to become an operator")
    request.add_argument("--name", required=True, help="what to be called in the record: anna")
    request.add_argument("--root", metavar="ROOT_ID", help="of a data root on another machine")
    request.add_argument("--out", type=Path, metavar="FILE", help="where to write the request")
    request.set_defaults(run=make_request)
    add = actions.add_parser("add", help="enrol who made a request; asks for the passphrase")
    add.add_argument("file", type=Path, metavar="FILE", help="the request they handed over")
    _add_role_options(add)
    add.set_defaults(run=add_operator)
    remove = actions.add_parser(
        "remove", help="their key signs nothing more; asks for the passphrase"
    )
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(run=remove_operator)
    role = actions.add_parser("role", help="change what somebody may sign")
    role.add_argument("name", metavar="NAME")
    _add_role_options(role)
    role.set_defaults(run=set_role)
    users = actions.add_parser("users", help="say which OS users are somebody at a terminal")
    users.add_argument("name", metavar="NAME")
    users.add_argument("users", nargs="*", metavar="USER", help="login names, or ids; none: nobody")
    users.set_defaults(run=set_users)
    _configure_rules(actions.add_parser("rules", help="how many signatures something takes"))
    sign = actions.add_parser("sign", help="sign what another operator signed first")
    sign.add_argument("round", metavar="ROUND", help="as `astra operators` names it")
    sign.set_defaults(run=sign_round)


def _add_role_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--role", choices=tuple(ROLES), default="full", help="what they may sign")
    parser.add_argument(
        "--may", action="append", metavar="DUTY", help="instead of the role's duties: approve:plan"
    )
    parser.add_argument("--tier", type=int, choices=(0, 1, 2), help="the highest tier of a call")
    parser.add_argument(
        "--path", action="append", default=[], metavar="GLOB", help="only for these paths"
    )


def _configure_rules(parser: argparse.ArgumentParser) -> None:
    for name in _QUORUMS:
        parser.add_argument(f"--{name}", type=int, metavar="N", help="how many operators sign")
    parser.add_argument(
        "--separate-approver", choices=("on", "off"), help="whether who asked may not approve"
    )
    parser.set_defaults(run=set_rules)


def list_operators(context: Context) -> None:
    document = context.client().get("/api/operators")
    rows = [
        (
            item["name"],
            item["fingerprint"],
            _describe_role(item["role"]),
            f"{len(item['passkeys'])} passkeys",
            f"since {item['since'][:10]}",
            f"by {', '.join(item['signed_by'])}" if item["signed_by"] else "from the beginning",
        )
        for item in document["items"]
    ]
    titles = ("operator", "key", "may sign", "passkeys", "since", "by")
    lines = render_table(context.console, titles, rows)
    context.console.print_result(
        document, *lines, *_describe_rules(document["rules"]), *_describe_waiting(document)
    )


def make_request(context: Context) -> None:
    """Make the key here, in this user's home; what is handed over holds nothing secret."""
    from astra.trusted.files import operators_key
    from astra.trusted.policy import enlisting, operators

    arguments = context.arguments
    operators.check_name(arguments.name)
    root_id, throwaway, operator_keys = _find_root(context)
    pair = _open_or_make_key(context, root_id, throwaway=throwaway)
    if pair.public in operator_keys:
        raise Conflict(
            "the key at hand is an operator's already",
            next_step="another person makes the request as their own user, or with another"
            " XDG_CONFIG_HOME",
        )
    document = enlisting.build_request(root_id, arguments.name, pair)
    path: Path = arguments.out or Path(f"{arguments.name}.operator.json")
    path.write_text(json.dumps(document, indent=1) + "\n")
    context.console.print_result(
        {**document, "file": str(path), "operator_key": str(operators_key.key_path(root_id))},
        f"wrote {path}; hand it to an operator, who runs: astra operators add {path}",
        f"tell them your key's fingerprint in person: {pair.public[:16]}",
    )


def _find_root(context: Context) -> tuple[str, bool, set[str]]:
    if context.arguments.root:
        return context.arguments.root, False, set()
    root = context.client().get("/api/operator")
    operators = context.client().get("/api/operators")["items"]
    return root["root_id"], bool(root["throwaway"]), {item["key"] for item in operators}


def _open_or_make_key(context: Context, root_id: str, *, throwaway: bool) -> Any:
    """Open the key of an earlier request, or make one: a request can be made again."""
    from astra.interfaces.cli import signing
    from astra.trusted.files import operators_key
    from astra.trusted.kernel.signatures import KeyPair

    if operators_key.key_path(root_id).exists():
        passphrase = signing.ask_passphrase(context, throwaway=throwaway)
        return operators_key.unlock(root_id, passphrase)
    pair = KeyPair.generate()
    operators_key.write(root_id, pair, signing.new_passphrase(context, throwaway=throwaway))
    return pair


def add_operator(context: Context) -> None:
    from astra.trusted.policy import enlisting, operators

    root_id = context.client().get("/api/operator")["root_id"]
    request = enlisting.read_request(_read_json(context.arguments.file), root_id=root_id)
    role = _build_role(context)
    context.console.note(f"  {request['name']} may sign: {_describe_role(role)}")
    context.console.note(f"  fingerprint {request['key'][:16]}: compare it with what they see")
    _sign_change(context, operators.ENROLLED, {**request, "role": role}, "enrolled")


def remove_operator(context: Context) -> None:
    from astra.trusted.policy import operators

    _sign_change(context, operators.REMOVED, {"name": context.arguments.name}, "removed")


def set_role(context: Context) -> None:
    from astra.trusted.policy import operators

    content = {"name": context.arguments.name, "role": _build_role(context)}
    _sign_change(context, operators.ROLE_SET, content, "role set")


def set_users(context: Context) -> None:
    """Say who somebody is at a terminal, so that what they ask for there is theirs."""
    from astra.trusted.policy import operators

    users = sorted({_find_user_id(name) for name in context.arguments.users})
    content = {"name": context.arguments.name, "users": users}
    _sign_change(context, operators.USERS_SET, content, "OS users set")


def _find_user_id(name: str) -> str:
    import pwd

    if name.isdigit():
        return name
    try:
        return str(pwd.getpwnam(name).pw_uid)
    except KeyError:
        raise NotFound(
            f"there is no OS user {one_line(name, 60)}", next_step="give what `id -u` says"
        ) from None


def set_rules(context: Context) -> None:
    """Change the rules that are named; the others stay as they are."""
    from astra.trusted.policy import operators

    arguments, document = vars(context.arguments), context.client().get("/api/operators")
    rules = document["rules"]
    quorum = {name: arguments[name] or rules["quorum"][name] for name in _QUORUMS}
    choice = arguments["separate_approver"]
    separate = rules["separate_approver"] if choice is None else choice == "on"
    if (quorum, separate) == (rules["quorum"], rules["separate_approver"]):
        context.console.print_result(rules, *_describe_rules(rules))
        return
    content = {"quorum": quorum, "separate_approver": separate}
    for line in _describe_rules(content):
        context.console.note(f"  {line}")
    if max(quorum.values()) >= len(document["items"]):
        context.console.note("  if one of them loses their key, nobody can sign for it any more")
    _sign_change(context, operators.RULES_SET, content, "rules set")


def sign_round(context: Context) -> None:
    """Sign what another operator signed first, word for word."""
    from astra.interfaces.cli.signing import sign_action

    rounds = context.client().get("/api/operators")["waiting"]
    round_name = context.arguments.round
    matches = [item for item in rounds if item["round"].startswith(round_name)]
    if len(matches) != 1:
        raise NotFound(
            f"{one_line(round_name, 60)} names nothing that waits", next_step="astra operators"
        )
    item = matches[0]
    for line in json.dumps(item["content"], indent=1, ensure_ascii=False).splitlines():
        context.console.note(f"  {printable(line)}")
    context.console.note(f"  {item['action']}, {printable(item['words'])}")
    path, body = _find_door(item)
    authority = sign_action(context, item["action"], item["content"])
    answer = context.client().post(path, {**body, "authority": authority})
    context.console.print_result(answer, f"signed, as record {answer['sequence']}")


def _find_door(item: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    from astra.trusted.policy import operators

    action, content = item["action"], item["content"]
    if action in operators.CHANGES:
        return "/api/operators", {"action": action, "content": content}
    if action == _CONFIGURED:
        return "/api/config", {"text": content["text"]}
    if action == _APPROVED:
        return f"/api/approvals/{content['approval']}/approve", {}
    raise BadInput(
        f"{action} is signed by the command that it was signed by first",
        next_step="run that command",
    )


def _sign_change(context: Context, action: str, content: dict[str, Any], outcome: str) -> None:
    from astra.interfaces.cli.signing import sign_action

    authority = sign_action(context, action, content)
    body = {"action": action, "content": content, "authority": authority}
    answer = context.client().post("/api/operators", body)
    context.console.print_result(answer, f"{outcome}, as record {answer['sequence']}")


def _build_role(context: Context) -> dict[str, Any]:
    arguments = context.arguments
    tier = _TIERS[arguments.role] if arguments.tier is None else arguments.tier
    return {
        "duties": sorted(set(arguments.may or ROLES[arguments.role])),
        "tier": tier,
        "paths": sorted(set(arguments.path)),
    }


def _describe_role(role: dict[str, Any]) -> str:
    limits = [f"up to tier {role['tier']}"] if role["tier"] != _TIERS["full"] else []
    limits += [f"in {', '.join(role['paths'])}"] if role["paths"] else []
    return printable(", ".join([*role["duties"], *limits]))


def _describe_rules(rules: dict[str, Any]) -> list[str]:
    lines = [
        f"{name}: {count} operators sign" for name, count in rules["quorum"].items() if count > 1
    ]
    return [*lines, *(["who asked may not approve"] if rules["separate_approver"] else [])]


def _describe_waiting(document: dict[str, Any]) -> list[str]:
    return [
        f"{item['action']}, {printable(item['words'])}: astra operators sign {item['round'][:16]}"
        for item in document["waiting"]
    ]


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise NotFound(f"there is no {path}", next_step="astra operators request") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{path} is not JSON", next_step="have the request made anew") from None
