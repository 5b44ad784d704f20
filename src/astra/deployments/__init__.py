"""Deployments: from an approved commit to a release that serves, and back when it does not."""
