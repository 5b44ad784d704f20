"""What can happen while a release goes out to the instances of a fleet."""

ROLLOUT_BEGUN = "fleet_rollout_begun"
WAVE_BEGUN = "fleet_wave_begun"
WAVE_FINISHED = "fleet_wave_finished"
INSTANCE_ORDERED = "fleet_instance_ordered"
INSTANCE_PASSED_OVER = "fleet_instance_passed_over"
INSTANCE_RELEASED = "fleet_instance_released"
INSTANCE_FAILED = "fleet_instance_failed"

LEASE = "instance:"
"""How the lease of an instance begins: whoever holds `instance:web-1` is its worker."""
