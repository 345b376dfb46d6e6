"""Names of new plugins: well formed, and nobody's yet."""

import keyword

import hypothesis
import pytest
from hypothesis import strategies as st

from raas_sdk.errors import NameRefused
from raas_sdk.new_plugin import PluginName
from raas_sdk.settings import load_settings


@pytest.fixture
def settings(tmp_path):
    """Settings with the installed plugins and these."""

    def make(**flags):
        return load_settings({"entry_points": False, **flags}, environ={}, folder=tmp_path)

    return make


def test_package_and_distribution_follow_from_the_name():
    name = PluginName("unit_conversion2")
    assert (name.package, name.distribution) == ("raas_unit_conversion2", "raas-unit-conversion2")


@pytest.mark.parametrize(
    "text",
    ["", "Units", "1st", "my-task", "my task", "_x", "x_", "a__b", "ünits", "../x", "a/b", "a.b", "x\n", "x" * 41, "é"],
)
def test_a_malformed_name_is_refused_with_what_to_write_instead(text):
    with pytest.raises(NameRefused, match=r"write lower-case letters|are the most") as refusal:
        PluginName(text)
    assert repr(text)[:50] in str(refusal.value)


@pytest.mark.parametrize("text", ["class", "import", "async"])
def test_a_word_of_python_is_refused(text):
    with pytest.raises(NameRefused, match="word of Python"):
        PluginName(text)


@hypothesis.given(st.text(max_size=50))
def test_a_name_that_is_let_in_makes_an_identifier_and_a_distribution(text):
    try:
        name = PluginName(text)
    except NameRefused:
        return
    assert name.text.isidentifier() and name.package.isidentifier() and not keyword.iskeyword(name.text)
    assert name.distribution.replace("-", "").isalnum()


def test_a_free_name_passes(settings):
    PluginName("units_of_nobody").check_free(settings())


def test_the_name_of_an_installed_plugin_is_taken(settings, as_plugin, task):
    with pytest.raises(NameRefused, match=r"'puzzles' is the name of an installed plugin \(module "):
        PluginName("puzzles").check_free(settings(plugin=(as_plugin(task("words"), "puzzles"),)))


def test_a_broken_plugin_keeps_its_name(settings):
    with pytest.raises(NameRefused, match="is the name of an installed plugin"):
        PluginName("gone").check_free(settings(plugin=("nowhere.gone",)))


def test_a_data_source_of_an_installed_plugin_is_taken(settings, as_plugin, task):
    plugin = as_plugin(task("words", "number_*"), "puzzles")
    with pytest.raises(NameRefused, match="'words' is a data source of the installed plugin 'puzzles'"):
        PluginName("words").check_free(settings(plugin=(plugin,)))
    with pytest.raises(NameRefused, match="'verbs' is a data source"):
        PluginName("verbs").check_free(settings(plugin=(plugin,), routes={"verbs": "puzzles"}))
    PluginName("number_theory").check_free(settings(plugin=(plugin,)))


def test_settings_written_ahead_for_the_plugin_do_not_take_its_name(settings):
    ahead = {"plugins": {"knots": {"tolerance": 0.1}}, "routes": {"ropes": "knots"}, "wrappers": ("knots",)}
    PluginName("knots").check_free(settings(strict=True, **ahead))


@pytest.mark.parametrize("text", ["sdk", "runtime", "math"])
def test_a_name_whose_package_exists_is_taken(settings, text):
    with pytest.raises(NameRefused, match=f"the package 'raas_{text}' exists already"):
        PluginName(text).check_free(settings())
