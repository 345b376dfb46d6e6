"""The FastAPI application over a gateway."""

from fastapi import FastAPI

from raas_sdk.gateway import Gateway
from raas_sdk.server.answers import error_handlers
from raas_sdk.server.auth import Gate
from raas_sdk.server.backstop import Backstop
from raas_sdk.server.request_models import BackendBody, CancelBody, ProcessBody, described
from raas_sdk.server.routes import Routes

__all__ = ["create_app"]

ABOUT = "Rollouts as a service: token-exact trajectories and rewards of multi-turn agents. Errors: {detail, code}."


def create_app(gateway: Gateway) -> FastAPI:
    """Put the routes, the error answers and the gate together; starts nothing."""
    app = FastAPI(title="raas", description=ABOUT, exception_handlers=error_handlers(), redoc_url=None)
    routes = Routes(gateway)
    app.add_api_route("/process", routes.process, methods=["POST"], openapi_extra=described(ProcessBody))
    app.add_api_route("/cancel", routes.cancel, methods=["POST"], openapi_extra=described(CancelBody))
    app.add_api_route("/start", routes.start, methods=["POST"])
    app.add_api_route("/stop", routes.stop, methods=["POST"])
    app.add_api_route("/status", routes.status, methods=["GET"])
    app.add_api_route("/add_llm_server", routes.add_backend, methods=["POST"], openapi_extra=described(BackendBody))
    app.add_api_route("/clear_llm_server", routes.clear_backends, methods=["POST"])
    app.add_api_route("/backends", routes.backends, methods=["GET"])
    app.add_api_route(
        "/backends",
        routes.add_backend,
        methods=["POST"],
        openapi_extra=described(BackendBody),
        operation_id="add_backend",
    )
    app.add_api_route("/backends/{backend_id}", routes.remove_backend, methods=["DELETE"])
    app.add_api_route("/healthz", routes.healthz, methods=["GET"])
    app.add_api_route("/readyz", routes.readyz, methods=["GET"])
    app.add_middleware(Backstop)
    app.add_middleware(Gate, token=gateway.settings.token)
    return app
