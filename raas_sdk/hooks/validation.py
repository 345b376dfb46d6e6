"""What a plugin must be before it is let in; every refusal says what, which one and what to do."""

import difflib
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from pluggy import HookCaller, HookImpl, PluginManager, PluginValidationError
from pydantic import BaseModel, ValidationError

from raas_sdk.errors import PluginRefused
from raas_sdk.hooks import hookspecs
from raas_sdk.hooks.handler import TaskHandler

__all__ = [
    "ANNOUNCEMENTS",
    "HOOKS",
    "ROUTED",
    "STAGES",
    "check_hooks",
    "check_kinds",
    "data_sources_of",
    "is_wrapper",
    "register",
    "settings_of",
]

HOOKS = tuple(name for name in hookspecs.__all__ if name.startswith("raas_"))
REGISTRATION = ("raas_data_sources", "raas_settings")
STAGES = ("raas_init", "raas_run", "raas_eval")
DECISIONS = ("raas_init_exception", "raas_run_exception", "raas_eval_exception", "raas_final_result")
ANNOUNCEMENTS = ("raas_job_started", "raas_stage_finished", "raas_turn_finished", "raas_job_finished")
ROUTED = STAGES + DECISIONS
SYNC = REGISTRATION + DECISIONS + ANNOUNCEMENTS
REQUIRED = ("raas_run", "raas_eval")


def register(manager: PluginManager, name: str, plugin: Any) -> None:
    """Register with pluggy; raise PluginRefused for an unknown hook or argument."""
    marked = _marked(manager, plugin)
    unknown = sorted(hook for hook in marked if hook not in HOOKS)
    if unknown:
        close = difflib.get_close_matches(unknown[0], HOOKS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise PluginRefused(f"plugin {name!r} implements {unknown[0]!r}, which is no hook{hint}")
    forgotten = [hook for hook in HOOKS if hook not in marked and _is_own_function(plugin, hook)]
    if forgotten:
        raise PluginRefused(f"plugin {name!r} has {forgotten[0]!r} without its mark; put @raas_sdk.hookimpl above it")
    if not marked:
        raise PluginRefused(f"plugin {name!r} implements no hook; {_advice(plugin)}")
    try:
        manager.register(plugin, name=name)
    except PluginValidationError as error:
        manager.unregister(name=name)
        raise PluginRefused(f"plugin {name!r}: {error}") from error


def check_kinds(name: str, own: Mapping[str, HookCaller]) -> None:
    """Raise PluginRefused for a hook that is async and must not be, or a wrapper where nothing can be wrapped."""
    for hook in SYNC:
        _check_sync(name, hook, own[hook].get_hookimpls())


def data_sources_of(name: str, caller: HookCaller) -> tuple[str, ...]:
    """Ask a plugin for its data sources; raise PluginRefused for what is no list of names."""
    answer = caller()
    if answer is None:
        return ()
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        raise PluginRefused(f"plugin {name!r}: raas_data_sources must return a list of names, got {answer!r}")
    sources = tuple(answer)
    bad = [source for source in sources if not isinstance(source, str) or not source or "[" in source]
    if bad or not sources:
        raise PluginRefused(f"plugin {name!r}: not a data source name: {bad or list(sources)!r} (globs: * and ? only)")
    return sources


def check_hooks(name: str, sources: tuple[str, ...], own: Mapping[str, HookCaller]) -> None:
    """Raise PluginRefused for a task plugin without run or eval, or stages without a data source."""
    plain = [hook for hook in ROUTED for impl in own[hook].get_hookimpls() if not is_wrapper(impl)]
    twice = [hook for hook in plain if plain.count(hook) > 1]
    if twice:
        raise PluginRefused(f"plugin {name!r} implements {twice[0]} twice; only wrappers (wrapper=True) may be added")
    missing = [hook for hook in REQUIRED if hook not in plain]
    if sources and missing:
        raise PluginRefused(f"plugin {name!r} serves {list(sources)} but has no {missing[0]}; a task plugin needs it")
    if not sources and plain:
        advice = "add raas_data_sources, or make it a wrapper: @hookimpl(wrapper=True)"
        raise PluginRefused(f"plugin {name!r} implements {plain[0]} but declares no data sources; {advice}")


def settings_of(name: str, caller: HookCaller, values: Mapping[str, Any]) -> BaseModel | None:
    """Fill the plugin's settings model; raise PluginRefused naming the key at fault."""
    model = caller()
    if model is None:
        if values:
            raise PluginRefused(f"[plugins.{name}] has keys {sorted(values)}, but the plugin takes no settings")
        return None
    if not isinstance(model, type) or not issubclass(model, BaseModel):
        raise PluginRefused(f"plugin {name!r}: raas_settings must return a pydantic model class, got {model!r}")
    try:
        return model(**values)
    except ValidationError as error:
        fault = error.errors()[0]
        key = ".".join(str(part) for part in fault["loc"])
        raise PluginRefused(f"[plugins.{name}] {key}: {fault['msg']}, got {fault['input']!r:.100}") from error


def is_wrapper(impl: HookImpl) -> bool:
    """Whether it wraps other implementations, in either of pluggy's styles."""
    return impl.wrapper or impl.hookwrapper


def _check_sync(name: str, hook: str, impls: Iterable[HookImpl]) -> None:
    for impl in impls:
        if inspect.iscoroutinefunction(impl.function):
            raise PluginRefused(f"plugin {name!r}: {hook} is called, not awaited; write 'def' instead of 'async def'")
        if is_wrapper(impl) and hook not in DECISIONS:
            raise PluginRefused(f"plugin {name!r}: {hook} cannot be wrapped; wrap stages and decisions only")


def _is_own_function(plugin: Any, hook: str) -> bool:
    """Whether the plugin defines a function of a hook's name (one that a module imported is not its own)."""
    found = inspect.getattr_static(plugin, hook, None)
    home = getattr(plugin, "__name__", None) if inspect.ismodule(plugin) else getattr(found, "__module__", None)
    return inspect.isfunction(found) and found.__module__ == home


def _advice(plugin: Any) -> str:
    if inspect.ismodule(plugin):
        found = [n for n, item in vars(plugin).items() if inspect.isclass(item) and item.__module__ == plugin.__name__]
        handlers = [n for n in found if issubclass(getattr(plugin, n), TaskHandler)]
        if handlers:
            return f"it has the class {handlers[0]!r}: name it after a colon (…:{handlers[0]})"
    return "mark functions with @raas_sdk.hookimpl"


def _marked(manager: PluginManager, plugin: Any) -> list[str]:
    """The hooks it implements: names of functions, or what `specname` says."""
    options = {name: manager.parse_hookimpl_opts(plugin, name) for name in dir(plugin)}
    return [found.get("specname") or name for name, found in options.items() if found is not None]
