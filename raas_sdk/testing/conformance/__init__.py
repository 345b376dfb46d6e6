"""The conformance check of plugins: a walk through every hook, in a real service, with everything going wrong."""

from raas_sdk.testing.conformance.report import CheckReport, Finding
from raas_sdk.testing.conformance.walk import assert_plugin_ok, check_plugin, check_plugin_async

__all__ = ["CheckReport", "Finding", "assert_plugin_ok", "check_plugin", "check_plugin_async"]
