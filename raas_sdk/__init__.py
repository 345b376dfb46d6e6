"""Rollout-as-a-Service: the contract for task plugins and the service that runs them."""
