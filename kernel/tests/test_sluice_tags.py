"""The template tags as templates use them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, Template
from django.test import RequestFactory, override_settings

from kernel import clock, looks

NOW = datetime(2026, 6, 9, 6, 20, 6, tzinfo=UTC)
HOSTILE = '"><script>alert(1)</script>'


def render(source: str, path: str = "/", **values: object) -> str:
    context = Context({"request": RequestFactory().get(path), **values})
    return Template("{% load sluice %}" + source).render(context)


@pytest.mark.parametrize(
    ("state", "tone", "word"),
    [
        ("running", "ok", "Running"),
        ("queued", "waiting", "Waiting"),
        ("preempted", "paused", "Preempted"),
        ("failed", "bad", "Failed"),
        ("unknown", "unknown", "Unknown"),
        ("brand_new", "none", "Brand new"),
    ],
)
def test_a_state_has_icon_word_and_tone(state: str, tone: str, word: str) -> None:
    markup = render("{% state_badge state %}", state=state)
    assert f"tone-{tone}" in markup
    assert word in markup
    assert "<use href=" in markup


def test_another_word_and_a_ground() -> None:
    markup = render('{% state_badge "queued" "Waiting, 1 h 52 m" boxed=True %}')
    assert "Waiting, 1 h 52 m" in markup
    assert "state-boxed" in markup


@pytest.mark.parametrize(
    ("tier", "word", "filled"), [("high", "High", 3), ("mid", "Mid", 2), ("low", "Low", 1), (None, "No tier", 0)]
)
def test_tier(tier: str | None, word: str, filled: int) -> None:
    markup = render("{% tier_badge tier %}", tier=tier)
    assert word in markup
    assert markup.count("tier-on") == filled


@pytest.mark.parametrize(
    ("name", "css_class"),
    [
        ("H200", "model-h200"),
        ("NVIDIA H100 80GB HBM3", "model-h100"),
        ("a100-40gb", "model-a100"),
        ("L40S", "model-l40s"),
        ("rtx-4090", "model-4090"),
        ("NVIDIA H20", "model-h20"),
        ("Huawei Ascend 910B", "model-ascend"),
        ("v100-32gb", "model-other-4"),
        ("NVIDIA GH200", "model-other-1"),
    ],
)
def test_known_models_keep_their_hue(name: str, css_class: str) -> None:
    assert looks.model_class(name) == css_class


def test_an_unknown_model_has_a_stable_hue() -> None:
    assert looks.model_class("NVIDIA B400") == looks.model_class("b400")
    assert looks.model_class("B400").startswith("model-other-")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("h100", "H100"),
        ("NVIDIA H100", "H100"),
        ("NVIDIA A100 40 GB", "A100 40 GB"),
        ("a100-40gb", "A100 40 GB"),
        ("h100-pcie", "H100 PCIe"),
        ("rtx-4090", "RTX 4090"),
        ("AMD Instinct MI300X", "MI300X"),
        ("tesla-p100", "Tesla P100"),
        ("寒武纪 MLU370", "寒武纪 MLU370"),
        ("nvidia", "Nvidia"),
        ("-", "-"),
        ("", ""),
    ],
)
def test_a_model_is_called_by_its_short_title(name: str, title: str) -> None:
    assert looks.model_title(name) == title
    assert f">{title}<" in render("{% gpu_model_dot name %}", name=name)


@override_settings(ORGANISATION_TIME_ZONE="Asia/Shanghai")
def test_relative_time_has_the_exact_instant_in_the_organisations_zone() -> None:
    with clock.frozen(NOW):
        markup = render("{{ at|ago }}", at=NOW - timedelta(minutes=11))
    assert ">11 min ago<" in markup
    assert "14:09:06 UTC+8" in markup


def test_what_is_not_known_is_a_dash_and_not_zero() -> None:
    shown = render("{{ x|ago }}{{ x|duration }}{{ x|gpu_hours }}{{ x|number }}{{ x|bytes }}", x=None)
    assert shown.count("–") == 5
    assert "0" not in shown


def test_a_spark_without_any_value_says_so() -> None:
    assert "no data" in render("{% spark values %}", values=[None, None])


def test_a_bar_says_its_figures_to_who_cannot_see_it() -> None:
    markup = render('{% usage_bar 72 64 1280 model="H100" %}')
    assert 'aria-label="72 used, 64 guaranteed, limit 1\u202f280"' in markup
    assert "model-h100" in markup


@pytest.mark.parametrize(
    "source",
    [
        "{% state_badge x %}",
        '{% state_badge "failed" x %}',
        "{% tier_badge x x %}",
        "{% gpu_model_dot x %}",
        '{% sort_head "name" x %}',
        "{% sort_head x x %}",
        "{{ x|initials }}",
        "{% icon x x %}",
        "{% heat_node cells x %}",
    ],
)
def test_data_is_escaped(source: str) -> None:
    assert "<script" not in render(source, x=HOSTILE, cells=[])


@pytest.mark.parametrize(
    ("name", "mark"),
    [("Mira Halvorsen", "MH"), ("Jan van der Berg", "JB"), ("admin", "AD"), ("陈安", "陈"), (" ", "?")],
)
def test_initials(name: str, mark: str) -> None:
    assert render("{{ name|initials }}", name=name) == mark


class TestSortHead:
    def test_first_click_sorts_and_keeps_the_filters_but_not_the_page(self) -> None:
        markup = render('{% sort_head "used" "Used" %}', "/projects/?tier=high&tier=mid&page=3")
        assert 'href="?tier=high&amp;tier=mid&amp;sort=used"' in markup
        assert "aria-sort" not in markup

    def test_second_click_turns_the_order(self) -> None:
        markup = render('{% sort_head "used" "Used" %}', "/projects/?sort=used")
        assert 'aria-sort="ascending"' in markup
        assert 'href="?sort=-used"' in markup
        assert 'aria-sort="descending"' in render('{% sort_head "used" "Used" %}', "/projects/?sort=-used")

    def test_shift_click_adds_a_column(self) -> None:
        markup = render('{% sort_head "name" "Name" %}', "/projects/?sort=-used")
        assert 'data-add-href="?sort=-used%2Cname"' in markup

    def test_shift_click_turns_a_column_in_its_place(self) -> None:
        markup = render('{% sort_head "used" "Used" %}', "/projects/?sort=used,name")
        assert 'data-add-href="?sort=-used%2Cname"' in markup


def test_simulated_is_said_in_a_word() -> None:
    assert render("{% simulated_mark %}") == '<span class="simulated">simulated</span>'
