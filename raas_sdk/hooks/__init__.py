"""Everything a plugin may implement, and how plugins are found, checked and routed."""

from raas_sdk.hooks.handler import TaskHandler
from raas_sdk.hooks.hookspecs import hookimpl
from raas_sdk.hooks.host import Host
from raas_sdk.hooks.listener import Listener
from raas_sdk.hooks.manager import PluginReport, Plugins, load_plugins
from raas_sdk.hooks.route import Route

__all__ = ["Host", "Listener", "PluginReport", "Plugins", "Route", "TaskHandler", "hookimpl", "load_plugins"]
