"""A new task plugin: a complete project written from templates, under a name that nothing else has."""

from raas_sdk.new_plugin.plugin_name import PluginName
from raas_sdk.new_plugin.project import PluginProject, write_project

__all__ = ["PluginName", "PluginProject", "write_project"]
