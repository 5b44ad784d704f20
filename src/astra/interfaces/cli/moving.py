"""`astra ledger prepare` and `astra ledger move`: where the chain is kept."""

from astra.interfaces.cli.main import Context
from astra.trusted.kernel.errors import BadInput, BadSetting

FILES = "files"


def prepare_database(context: Context) -> None:
    from astra.adapters.postgres_ledger.connecting import describe_address
    from astra.adapters.postgres_ledger.schema import prepare_database

    url, role = _read_url(context.arguments.to), context.arguments.role
    is_new = prepare_database(url, role)
    word = "made" if is_new else "there already"
    context.console.print_result(
        {"made": is_new, "database": describe_address(url), "role": role},
        f"the tables of a chain are {word} in {describe_address(url)}",
        f"{role} may read and add records, and neither change nor remove one",
    )


def move_chain(context: Context) -> None:
    from astra.adapters.postgres_ledger import moving
    from astra.trusted.files.data_root import DataRoot

    root, to = DataRoot(context.settings.data_root), context.arguments.to
    root.require_first_record()
    if to == FILES:
        outcome = moving.move_to_files(root, _require_setting(context.settings.database_url))
        next_line = "next: unset ASTRA_DATABASE_URL, also in .env; then astra up"
    else:
        outcome = moving.move_to_database(root, _read_url(to))
        next_line = "next: set ASTRA_DATABASE_URL to that address, or write it to .env; astra up"
    document = {
        "records": outcome.records,
        "head": outcome.head,
        "copied": outcome.copied,
        "place": outcome.place,
    }
    context.console.print_result(
        document,
        f"{outcome.records} records, head {outcome.head}: now in {outcome.place}",
        next_line,
    )


def _read_url(text: str) -> str:
    if text.startswith(("postgresql://", "postgres://")):
        return text
    raise BadInput(
        "--to is an address such as postgresql://USER@HOST/DATABASE, or the word files",
        next_step="astra ledger move --help",
    )


def _require_setting(url: str) -> str:
    if not url:
        raise BadSetting(
            "ASTRA_DATABASE_URL does not say which database the chain is in",
            next_step="set it as the daemon has it, then the same command again",
            key="ASTRA_DATABASE_URL",
        )
    return url
