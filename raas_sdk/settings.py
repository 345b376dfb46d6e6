"""The service's settings, and the only place that reads the environment and files.

Order: flag, environment (`RAAS_RUN_WORKERS=4`), `raas.toml` in the working folder, `raas/raas.toml` in the
XDG configuration folder, default.
"""

import os
import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from raas_sdk.errors import SettingsInvalid
from raas_sdk.limits import Limits

__all__ = ["Settings", "load_settings"]

PREFIX = "RAAS_"


class Settings(BaseModel):
    """Everything an operator can choose. Names are the same as flag, variable and file key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(default="127.0.0.1", description="the address to listen on")
    port: int = Field(default=8006, ge=0, le=65535, description="the port to listen on; 0 takes a free one")
    token: str | None = Field(default=None, description="what clients must send as a bearer token")
    init_workers: int = Field(default=8, ge=1, description="jobs in INIT at once")
    run_workers: int = Field(default=64, ge=1, description="jobs in RUN at once")
    eval_workers: int = Field(default=8, ge=1, description="jobs in EVAL at once")
    handover: int = Field(default=8, ge=1, description="jobs that may wait between INIT and RUN with an open sandbox")
    grade_workers: int = Field(default=2, ge=1, description="processes that grade for `host.grade`")
    runtime: str = Field(default="auto", description="the kind of sandbox; auto takes the safest that works here")
    allow_unsafe_runtime: bool = Field(default=False, description="let a service use a runtime that isolates nothing")
    tokenizer: str | None = Field(
        default=None, description="a folder or file with the tokenizer and chat template of the model"
    )
    backend: tuple[str, ...] = Field(default=(), description="addresses of inference servers to begin with")
    plugin: tuple[str, ...] = Field(
        default=(), description="plugins beside the installed ones: `module[:attr]` or a path"
    )
    entry_points: bool = Field(default=True, description="load the installed plugins")
    wrappers: tuple[str, ...] = Field(
        default=(), description="the order of wrapper plugins, outermost first; others by name"
    )
    strict: bool = Field(default=False, description="refuse to start when a plugin is broken")
    default_data_source: str | None = Field(default=None, description="for instances that name no `data_source`")
    max_body_bytes: int = Field(default=64 * 2**20, ge=1024, description="the largest request body")
    max_queued_jobs: int = Field(default=10_000, ge=1, description="accepted jobs that may wait for INIT")
    keep_results: int = Field(default=2_000, ge=1, description="finished jobs whose results can still be asked for")
    lease_wait_seconds: float = Field(default=600.0, gt=0, description="how long a job waits for an inference server")
    backend_rest_seconds: float = Field(
        default=5.0, gt=0, description="how long an inference server that answers but fails to sample gets no jobs"
    )
    grace_seconds: float = Field(default=5.0, gt=0, description="how long a plugin may take to end when it is stopped")
    close_seconds: float = Field(default=15.0, gt=0, description="how long a sandbox may take to close")
    stop_seconds: float = Field(default=15.0, gt=0, description="how long a stop waits for cancelled jobs to end")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="the least that is logged"
    )
    limits: Mapping[str, Any] = Field(default_factory=dict, description="what a job may use, where it asks for nothing")
    routes: Mapping[str, str] = Field(
        default_factory=dict, description="more data sources for a plugin: source to plugin"
    )
    plugins: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict, description="each plugin's own settings")

    def job_limits(self) -> Limits:
        """The limits of a job that asks for nothing else."""
        return self._job_limits

    @cached_property
    def _job_limits(self) -> Limits:
        unknown = sorted(set(self.limits) - Limits.names())
        if unknown:
            raise SettingsInvalid(f"[limits] has no key {unknown[0]!r}; known: {sorted(Limits.names())}")
        return Limits().overridden(self.limits)


def load_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Merge flags, environment and files; raise SettingsInvalid that names the key and where it stands."""
    environ = os.environ if environ is None else environ
    given = {key: value for key, value in (flags or {}).items() if value is not None and value != ()}
    merged = {**_from_files(environ, folder or Path.cwd()), **_from_environment(environ), **given}
    try:
        return Settings(**merged)
    except ValidationError as error:
        fault = error.errors()[0]
        key = ".".join(str(part) for part in fault["loc"])
        where = "flag" if key in given else f"variable {PREFIX}{key.upper()} or file raas.toml"
        raise SettingsInvalid(f"setting {key!r} ({where}): {fault['msg']}, got {fault['input']!r:.100}") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, item in Settings.model_fields.items():
        text = environ.get(PREFIX + name.upper())
        if text is not None:
            is_list = str(item.annotation).startswith("tuple")
            found[name] = tuple(part for part in text.split(",") if part) if is_list else text
    return found


def _from_files(environ: Mapping[str, str], folder: Path) -> dict[str, Any]:
    home = Path(environ.get("HOME", "/"))
    user = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "raas" / "raas.toml"
    merged: dict[str, Any] = {}
    for path in (user, folder / "raas.toml"):
        if path.is_file():
            merged.update(_read_toml(path))
    return merged


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"{path} cannot be read: {error}") from error
