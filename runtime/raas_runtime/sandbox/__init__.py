"""Sandboxes on the host's side: what one is asked for, the runtimes that make one, the workspace in it."""
