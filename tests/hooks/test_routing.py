import itertools
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raas_sdk.errors import PluginRefused, UnknownSource
from raas_sdk.hooks.registry import RouteTable, globs_overlap


def table(**claims):
    routes = RouteTable()
    for plugin, sources in claims.items():
        routes.claim(plugin, sources)
    return routes


def test_an_exact_name_beats_a_glob():
    routes = table(wide=["deep*"], narrow=["deepscaler"])
    assert routes.resolve("deepscaler") == "narrow"
    assert routes.resolve("deepcoder_apps") == "wide"
    assert table(narrow=["deepscaler"], wide=["deep*"]).resolve("deepscaler") == "narrow"


def test_an_alias_routes_one_more_name():
    routes = table(math=["deepscaler"])
    routes.alias({"openai/gsm8k": "math"}, ["math"])
    assert routes.resolve("openai/gsm8k") == "math"
    assert ("openai/gsm8k", "math", "alias") in routes.rows()


def test_case_and_brackets_are_taken_literally():
    with pytest.raises(UnknownSource):
        table(math=["math"]).resolve("Math")
    assert table(code=["code*"]).resolve("code[1]") == "code"


def test_one_plugin_may_claim_overlapping_names():
    assert table(code=["deepcoder*", "deepcoder_apps*", "deepcoder"]).resolve("deepcoder_apps_1") == "code"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("deepscalar", "did you mean 'deepscaler'?"),
        ("nope", "(available: deepscaler, openai/gsm8k, swe*)"),
        ("x" * 500, "available"),
    ],
)
def test_an_unknown_source_names_what_is_known(asked, said):
    routes = table(math=["deepscaler"], swe=["swe*"])
    routes.alias({"openai/gsm8k": "math"}, ["math", "swe"])
    with pytest.raises(UnknownSource) as caught:
        routes.resolve(asked)
    assert said in str(caught.value) and asked in str(caught.value)


def test_without_any_plugin_the_answer_says_so():
    with pytest.raises(UnknownSource, match=r"available: none"):
        table().resolve("math")


PATTERNS = st.text(alphabet="ab*?", min_size=1, max_size=4)
WORDS = ["".join(letters) for length in range(9) for letters in itertools.product("ab", repeat=length)]


@given(PATTERNS, PATTERNS, st.text(alphabet="ab", max_size=6))
def test_globs_that_share_a_name_overlap(one, other, name):
    if fnmatchcase(name, one) and fnmatchcase(name, other):
        assert globs_overlap(one, other) and globs_overlap(other, one)


@given(PATTERNS, PATTERNS)
def test_globs_that_overlap_share_a_name(one, other):
    shared = any(fnmatchcase(n, one) and fnmatchcase(n, other) for n in WORDS)
    assert globs_overlap(one, other) == shared


@given(st.dictionaries(st.sampled_from("pqr"), st.lists(PATTERNS, min_size=1, max_size=3), min_size=2))
def test_no_name_is_ever_claimed_by_two_plugins(claims):
    routes = RouteTable()
    try:
        for plugin, sources in claims.items():
            routes.claim(plugin, sources)
    except PluginRefused:
        return
    for word in WORDS:
        owners = {plugin for pattern, plugin in routes.globs.items() if fnmatchcase(word, pattern)}
        assert len(owners) <= 1


def test_the_report_tells_what_each_plugin_is(load, task, handler):
    class Quiet:
        from raas_sdk import hookimpl

        @hookimpl
        def raas_job_finished(self, job_id): ...

    reports = {r.name: r for r in load(math=task("math", "gsm*"), old=handler, quiet=Quiet()).reports}
    assert list(reports) == ["math", "old", "quiet"]
    assert reports["math"].data_sources == ("math", "gsm*") and reports["math"].kind == "task"
    assert reports["math"].hooks == ("raas_data_sources", "raas_eval", "raas_run")
    assert reports["old"].kind == "task" and reports["old"].data_sources == ("handled",)
    assert reports["quiet"].kind == "wrapper" and reports["quiet"].hooks == ("raas_job_finished",)
    assert all(report.error is None for report in reports.values())
