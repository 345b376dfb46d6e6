"""What each route does: thin, everything that decides is in the gateway."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import Query, Request
from starlette.responses import Response

from raas_sdk.backends.address import normalise_address
from raas_sdk.backends.client import WIRES
from raas_sdk.errors import BadRequest
from raas_sdk.gateway import Gateway, Submission, admit
from raas_sdk.server.answers import answer, answer_error
from raas_sdk.server.bodies import OFF_LOOP_BYTES, BodyRefused, read_json, read_model
from raas_sdk.server.job_answer import JobAnswer, Waiters
from raas_sdk.server.request_models import BackendBody, CancelBody

__all__ = ["Routes"]

DISCONNECT = (None, "cancel", "continue")
Beat = Annotated[float | None, Query(gt=0, le=3600, description="Send white space every so many seconds.")]
Compat = Annotated[Literal["full"] | None, Query(description="'full' adds each call's whole prompt.")]

Pool = Annotated[str | None, Query(min_length=1, description="Only those of this pool.")]
Mode = Annotated[
    Literal["drain", "now"],
    Query(description="'drain' lets its jobs end there; 'now' moves them to others with the same weights."),
]


class Routes:
    """The handlers, over one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._waiters = Waiters(gateway)
        self._max_bytes = gateway.settings.max_body_bytes

    async def process(self, request: Request, heartbeat: Beat = None, compat: Compat = None) -> Response:
        """Run one rollout and answer with its result."""
        body = await read_json(request, max_bytes=self._max_bytes)
        submission = await self._admitted(request, body)
        on_disconnect = _on_disconnect(body)
        record = self._gateway.submit(submission)
        return JobAnswer(
            record,
            self._waiters,
            cancel_if_left=not submission.named if on_disconnect is None else on_disconnect == "cancel",
            beat_seconds=heartbeat,
            full=compat == "full",
        )

    async def cancel(self, request: Request) -> Response:
        """End a job wherever it is. `known` says whether there was one."""
        job_id = (await read_model(request, CancelBody, max_bytes=self._max_bytes)).job_id
        known = self._gateway.cancel(job_id)
        text = f"job {job_id!r} is being cancelled" if known else f"no live job {job_id!r}"
        return answer({"status": text, "job_id": job_id, "known": known})

    async def start(self) -> Response:
        """Take jobs; does nothing if it already does."""
        self._gateway.start()
        return answer({"status": "running"})

    async def stop(self) -> Response:
        """Take no more jobs and cancel all; does nothing if it is stopped."""
        left = await self._gateway.stop()
        return answer({"status": "stopped" if not left else f"stopped; {left} jobs did not end and were given up"})

    async def status(self) -> Response:
        """Jobs by stage, backends, plugins; 503 with the same body while stopped."""
        body = self._gateway.status()
        if self._gateway.started:
            return answer(body)
        return answer({**body, "detail": "the service is stopped; POST /start first", "code": "not_started"}, 503)

    async def add_backend(self, request: Request) -> Response:
        """Register an inference server, reachable yet or not."""
        body = await read_model(request, BackendBody, max_bytes=self._max_bytes)
        if body.wire is not None and body.wire not in WIRES:
            raise BodyRefused(422, "unknown_wire", f"unknown wire {body.wire!r}; known: {', '.join(WIRES)}")
        facts = body.model_dump(exclude={"address"})
        try:
            self._gateway.add_backend(body.address, **facts)
            address = normalise_address(body.address)
        except BadRequest as error:
            raise BodyRefused(422, "bad_address", str(error)) from error
        rows = [row for row in self._backends() if (row["address"], row["pool"]) == (address, body.pool)]
        return answer({"status": f"backend {address} is registered in pool {body.pool!r}", **rows[0]})

    async def clear_backends(self, pool: Pool = None) -> Response:
        """Take out all inference servers; running jobs keep theirs."""
        count = self._gateway.clear_backends(pool)
        return answer({"status": f"{count} backends taken out", "count": count})

    async def remove_backend(self, backend_id: str, mode: Mode = "drain") -> Response:
        """Take out one inference server."""
        try:
            self._gateway.remove_backend(backend_id, drain=mode == "drain")
        except BadRequest as error:
            raise BodyRefused(404, error.code, str(error)) from error
        draining = any(row["id"] == backend_id for row in self._backends())
        text = "gets no more jobs and goes with its last" if draining else "is taken out"
        return answer({"status": f"backend {backend_id!r} {text}", "id": backend_id, "draining": draining})

    async def backends(self) -> Response:
        """All registered inference servers."""
        return answer({"backends": self._backends()})

    async def healthz(self) -> Response:
        """Whether the process answers."""
        return answer({"status": "ok"})

    async def readyz(self) -> Response:
        """Whether a job would be taken and could sample."""
        lacks = self._lacks()
        return answer({"status": "ready"}) if lacks is None else answer_error(503, "not_ready", lacks)

    def _lacks(self) -> str | None:
        if not self._gateway.started:
            return "the service is stopped; POST /start"
        if not self._gateway.plugins.routes:
            return "no task plugin is loaded; see `raas plugins`"
        if not any(row["healthy"] and not row["draining"] for row in self._backends()):
            return "no usable backend; POST /add_llm_server"
        return None

    def _backends(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._gateway.status()["backends"]
        return rows

    async def _admitted(self, request: Request, body: object) -> Submission:
        settings = self._gateway.settings
        if int(request.headers.get("content-length", OFF_LOOP_BYTES + 1)) > OFF_LOOP_BYTES:
            return await asyncio.to_thread(admit, body, settings)
        return admit(body, settings)


def _on_disconnect(body: Mapping[str, Any]) -> str | None:
    value = body.get("on_disconnect")
    if value not in DISCONNECT:
        raise BadRequest(f"'on_disconnect' must be 'cancel' or 'continue', got {value!r:.80}")
    return None if value is None else str(value)
