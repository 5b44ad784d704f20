"""What has to stand ready before a standing permission may deploy: staging, and a way back."""

from astra.deployments import views
from astra.deployments.plan import Plan
from astra.trusted.ledger.ports import Ledger


def find_objection(ledger: Ledger, plan: Plan) -> str:
    """Say why nothing may be deployed without a person now, or nothing."""
    if not plan.staging:
        return "staging is off (astra.toml: deploy.staging), so nothing runs apart first"
    live = views.live_release(ledger)
    if live is None or not live.good:
        return "no proven release serves, so there would be nothing to go back to"
    if views.failed_rollback(ledger):
        return "a release failed in service, and nothing good could be brought back"
    return ""
