"""The conformance check of plugins: a walk through every hook, in a real service, with everything going wrong."""

from raas_sdk.testing.conformance.check import assert_plugin_ok, check_plugin, check_plugin_async
from raas_sdk.testing.conformance.report import CheckReport, Finding

__all__ = ["CheckReport", "Finding", "assert_plugin_ok", "check_plugin", "check_plugin_async"]
