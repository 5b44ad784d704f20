"""What may happen: flags, tiers, budgets, grants, and the one gate."""
