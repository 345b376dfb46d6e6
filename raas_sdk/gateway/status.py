"""The service's state at one moment, as plain data."""

import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raas_sdk.gateway.gateway import Gateway

__all__ = ["status_of"]

BACKEND = (
    "id",
    "address",
    "pool",
    "wire",
    "epoch",
    "version",
    "weight",
    "speed",
    "live",
    "draining",
    "healthy",
    "health",
    "fault",
)


def status_of(gateway: "Gateway", *, queued: int) -> dict[str, Any]:
    """Counts of live jobs by stage (running ones under init, run, eval), backends, plugins."""
    live = gateway.records.live.values()
    holding = Counter(record.stage for record in live if record.state == "running")
    now = time.monotonic()
    oldest = max((now - record.since for record in live if record.stage == "queued"), default=0.0)
    return {
        "status": "running" if gateway.started else "stopped",
        "running": gateway.started,
        "pending_jobs": len(live),
        "jobs": len(live),
        "accepted": len(live) + gateway.records.finished_total,
        "queued": queued,
        "in_progress": len(live) - queued,
        "queue_age_seconds": oldest,
        "init": holding["init"],
        "run": holding["run"],
        "eval": holding["eval"],
        "finished": gateway.records.finished_total,
        "leases": {"held": gateway.desk.held, "waiting": gateway.desk.waiting},
        "engines": [gateway.engine.to_wire()],
        "backends": [_backend(backend) for backend in gateway.backends.list()],
        "plugins": [asdict(report) for report in gateway.plugins.reports],
        "unavailable": dict(gateway.unavailable),
        "announcements": {"dropped": gateway.announcements.dropped, "failed": gateway.announcements.failed},
    }


def _backend(backend: Any) -> dict[str, Any]:
    return {name: getattr(backend, name) for name in BACKEND}
