"""Every error a person or a program can meet.

    AstraError
    ├── BadInput              the caller's words are off                     exit 2, HTTP 400
    │   └── BadSetting        a setting, its value, and what is accepted
    ├── Refused               the rules say no                               exit 1, HTTP 403
    │   ├── NeedsApproval     a person has to decide first                   exit 3, HTTP 202
    │   ├── SignatureRejected a signature does not say what it should
    │   └── SignaturesMissing it is kept, and other operators have to sign too    exit 3, HTTP 202
    ├── NotFound              there is no such thing                         exit 1, HTTP 404
    ├── Conflict              somebody was first                             exit 1, HTTP 409
    │   ├── DuplicateKey      a unique key is already in the ledger
    │   └── StaleVersion      an entity moved on since it was read
    ├── LedgerError           the record cannot be kept or trusted           exit 1, HTTP 503
    │   ├── LedgerLocked      another process owns it
    │   ├── LedgerUnavailable disk full, read-only, or failing: nothing was recorded
    │   │   ├── LedgerUncertain  nobody knows whether it was recorded        HTTP 500
    │   │   └── IndexUnavailable recorded or not, it cannot be looked up     HTTP 500
    │   └── LedgerDamaged     cut, edited, or otherwise not what was written
    └── DaemonUnavailable     the daemon cannot be reached or started        exit 1, HTTP 503

Each says what happened (`detail`), a stable reason (`code`) and what to do (`next_step`); the same
object renders to command-line text, problem+json and an MCP tool error.

>>> NotFound("there is no desire des_1", next_step="astra desires list").as_dict()["code"]
'not_found'
"""

from typing import Any, ClassVar


class AstraError(Exception):
    code: ClassVar[str] = "failed"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(
        self, detail: str, *, next_step: str, code: str | None = None, **facts: Any
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.next_step = next_step
        self.reason = code or type(self).code
        self.facts = facts

    def as_dict(self) -> dict[str, Any]:
        return {
            "code": self.reason,
            "detail": self.detail,
            "next_step": self.next_step,
            **self.facts,
        }


class BadInput(AstraError):
    code = "bad_input"
    exit_code = 2
    http_status = 400


class BadSetting(BadInput):
    code = "bad_setting"


class Refused(AstraError):
    code = "refused"
    http_status = 403


class NeedsApproval(Refused):
    code = "needs_approval"
    exit_code = 3
    http_status = 202


class SignatureRejected(Refused):
    code = "signature_rejected"


class SignaturesMissing(Refused):
    code = "signatures_missing"
    exit_code = 3
    http_status = 202


class NotFound(AstraError):
    code = "not_found"
    http_status = 404


class Conflict(AstraError):
    code = "conflict"
    http_status = 409


class DuplicateKey(Conflict):
    code = "duplicate_key"


class StaleVersion(Conflict):
    code = "stale_version"


class LedgerError(AstraError):
    code = "ledger_error"
    http_status = 503


class LedgerLocked(LedgerError):
    code = "ledger_locked"


class LedgerUnavailable(LedgerError):
    code = "ledger_unavailable"


class LedgerUncertain(LedgerUnavailable):
    code = "ledger_uncertain"
    http_status = 500


class IndexUnavailable(LedgerUnavailable):
    code = "index_unavailable"
    http_status = 500


class LedgerArchived(LedgerUnavailable):
    """Records are needed that lie in an archive which is not there."""

    code = "ledger_archived"


class LedgerDamaged(LedgerError):
    code = "ledger_damaged"


class DaemonUnavailable(AstraError):
    code = "daemon_unavailable"
    http_status = 503
