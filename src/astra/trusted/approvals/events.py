"""What happens to a request for a person's decision, by name."""

REQUESTED, GRANTED = "approval_requested", "approval_granted"
REJECTED, EXPIRED, USED = "approval_rejected", "approval_expired", "approval_used"
ANNOUNCED, STALE = "approval_announced", "approval_went_stale"
