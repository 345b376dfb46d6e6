"""The plugin's first test: every hook keeps its contract, whatever happens around it."""

from raas_sdk import Tool
from raas_sdk.testing import FakeRuntime, check_plugin

IPYTHON = Tool("ipython", "Run Python.", {"type": "object", "properties": {"code": {"type": "string"}}})
INSTANCE = {
    "data_source": "deepscaler",
    "prompt": [{"role": "user", "content": "What is 6 * 7?"}],
    "reward_model": {"ground_truth": "42"},
    "extra_info": {"index": 1},
}
SCRIPT = ["```ipython\nprint(6 * 7)\n```", "```finish\n\\boxed{42}\n```"]


def test_the_plugin_keeps_its_contract():
    runtime = FakeRuntime({"ipython": "42"}, tools=[IPYTHON])
    report = check_plugin("math", instance=INSTANCE, script=SCRIPT, runtime=runtime, tokenizer="test:plain")
    report.raise_for_faults(warnings=True)
    assert "raas_run runs out of time in call" in report.checks, "the script calls a tool"
