"""The least that could answer POST /process: FastAPI, a checked body, three semaphores. Prints its port."""

import asyncio
import socket
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

__all__: list[str] = []


class Body(BaseModel):
    """What is posted."""

    instance: dict[str, Any]
    sampling_params: dict[str, Any] = {}


def front() -> FastAPI:
    """The application."""
    app = FastAPI()
    permits = [asyncio.Semaphore(8) for _ in range(3)]

    @app.post("/process")
    async def process(body: Body) -> dict[str, Any]:
        for permit in permits:
            async with permit:
                await asyncio.sleep(0)
        return {"instance_id": body.instance.get("instance_id"), "reward": 1.0}

    return app


if __name__ == "__main__":
    # With the protocol named, the event loop switches off Nagle's algorithm for each connection.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen(128)
        print(f"front on http://127.0.0.1:{bound.getsockname()[1]}", flush=True)
        config = uvicorn.Config(front(), http="httptools", log_level="error", access_log=False)
        asyncio.run(uvicorn.Server(config).serve(sockets=[bound]))
