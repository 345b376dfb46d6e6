"""The HTTP surface: ProRL's routes and ours. The only importer of fastapi and uvicorn."""

from raas_sdk.server.app import create_app
from raas_sdk.server.serving import serve

__all__ = ["create_app", "serve"]
