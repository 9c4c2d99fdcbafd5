"""Pictures in cells: what they draw for which figures, and that nothing given to them escapes into markup."""

import re
from xml.etree import ElementTree

import pytest

from kernel import heat, svg

HOSTILE = '"><script>alert(1)</script>'


def shapes(markup: str) -> list[tuple[str, dict[str, str]]]:
    """Every shape with its attributes; fails where the markup is not well formed."""
    root = ElementTree.fromstring(markup)
    return [(element.tag, element.attrib) for element in root.iter() if element is not root]


def width_of(markup: str, css_class: str) -> float | None:
    found = [float(a["width"]) for _, a in shapes(markup) if a.get("class", "").split(" ")[0] == css_class]
    return found[0] if found else None


def test_usage_within_the_guarantee_fills_to_what_is_used() -> None:
    bar = svg.usage_bar(svg.Usage(used=40, guaranteed=50, limit=100), label="x", width=100)
    assert width_of(bar, "bar-track") == 100
    assert width_of(bar, "bar-used") == 40


def test_use_over_the_guarantee_is_pale_beyond_the_tick() -> None:
    bar = svg.usage_bar(svg.Usage(used=80, guaranteed=50, limit=100), label="x", width=100)
    assert width_of(bar, "bar-used") == 50
    assert width_of(bar, "bar-pale") == 80
    tick = next(a for _, a in shapes(bar) if a.get("class") == "bar-tick")
    assert (tick["x"], tick["width"], tick["height"]) == ("49", "2", "14")


def test_without_a_guarantee_there_is_no_tick_and_no_full_fill() -> None:
    bar = svg.usage_bar(svg.Usage(used=8, guaranteed=0, limit=32), label="x")
    assert "bar-tick" not in bar
    assert "bar-used" not in bar


def test_bars_on_one_scale_can_be_compared() -> None:
    wide = svg.usage_bar(svg.Usage(used=0, guaranteed=0, limit=160, scale=160), label="x", width=160)
    narrow = svg.usage_bar(svg.Usage(used=0, guaranteed=0, limit=32, scale=160), label="x", width=160)
    assert (width_of(wide, "bar-track"), width_of(narrow, "bar-track")) == (160, 32)


def test_use_over_a_lowered_limit_is_marked_and_stays_inside() -> None:
    bar = svg.usage_bar(svg.Usage(used=64, guaranteed=0, limit=32), label="x", width=100)
    assert "bar-beyond" in bar
    assert width_of(bar, "bar-track") == 50
    assert width_of(bar, "bar-pale") == 100


def test_a_quota_of_nothing_draws_without_dividing_by_zero() -> None:
    bar = svg.usage_bar(svg.Usage(used=0, guaranteed=0, limit=0), label="x", width=100)
    assert [a["class"] for _, a in shapes(bar)] == ["bar-track"]


@pytest.mark.parametrize(
    ("value", "cap", "width", "is_over"),
    [(25, 100, 25.0, False), (0, 0, 0.0, False), (120, 100, 100.0, True), (5, 0, 100.0, False)],
)
def test_cap_bar(value: float, cap: float, width: float, is_over: bool) -> None:
    bar = svg.cap_bar(value, cap, label="x", width=100)
    assert width_of(bar, "cap-fill") == width
    assert ("is-over" in bar) is is_over


def test_a_gap_in_a_spark_is_a_gap_never_zero() -> None:
    picture = svg.spark([50, 50, None, None, 50, 50], label="x", width=50)
    lines = [a["points"] for tag, a in shapes(picture) if a.get("class") == "spark-line"]
    assert len(lines) == 2
    gap = next(a for _, a in shapes(picture) if a.get("class") == "no-data")
    assert (gap["x"], gap["width"]) == ("10", "30")
    assert not re.search(r",19[ \"]", " ".join(lines)), "no point of a line lies on the base"


def test_a_single_value_between_gaps_is_a_dot() -> None:
    picture = svg.spark([None, 100, None], label="x")
    assert [a["cy"] for tag, a in shapes(picture) if a.get("class") == "spark-dot"] == ["1"]


def test_a_spark_keeps_its_scale_of_0_to_100() -> None:
    low, high = svg.spark([0, 0], label="x"), svg.spark([100, 250], label="x")
    assert ",18 " in low and ",1 " in high


def test_a_spark_of_nothing_is_drawn() -> None:
    assert "spark-base" in svg.spark([], label="x")


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_tier_bars_fill_up_to_the_level(level: int) -> None:
    assert svg.tier_bars(level).count("tier-on") == level


def test_stacked_parts_share_the_width() -> None:
    bar = svg.stacked_bar([svg.Segment(1, "a"), svg.Segment(0, "b"), svg.Segment(3, "c")], label="x")
    assert '<rect class="a" x="0%" width="25%"' in bar
    assert 'class="b"' not in bar
    assert '<rect class="c" x="25%" width="75%"' in bar
    assert bar.count("bar-cut") == 1


def test_a_bar_without_a_width_fills_its_place() -> None:
    bar = svg.usage_bar(svg.Usage(used=40, guaranteed=50, limit=100, scale=200), label="x", width=None)
    assert 'class="usage-bar  is-fluid" width="100%"' in bar
    assert '<rect class="bar-track" x="0" y="4" width="50%"' in bar
    assert '<rect class="bar-used" x="0" y="4" width="20%"' in bar
    assert '<rect class="bar-tick" x="25%"' in bar


@pytest.mark.parametrize(
    "markup",
    [
        svg.usage_bar(svg.Usage(1, 1, 1), label=HOSTILE, css_class=HOSTILE),
        svg.cap_bar(1, 2, label=HOSTILE),
        svg.spark([1.0], label=HOSTILE),
        svg.stacked_bar([svg.Segment(1, HOSTILE, HOSTILE)], label=HOSTILE),
        heat.node_column([heat.Cell("used", 1.0)], label=HOSTILE),
    ],
)
def test_text_is_escaped(markup: str) -> None:
    assert "<script" not in markup
    ElementTree.fromstring(markup)


@pytest.mark.parametrize(
    ("utilisation", "step"), [(0, 0), (9.9, 0), (10, 1), (30, 2), (50, 3), (70, 4), (90, 5), (100, 5)]
)
def test_heat_steps_change_at_their_bounds(utilisation: float, step: int) -> None:
    assert heat.step(utilisation) == step


def test_a_used_gpu_without_a_sample_is_no_data_and_not_idle() -> None:
    column = heat.node_column([heat.Cell("used", None), heat.Cell("used", 0.0)], label="x")
    assert re.findall(r'class="(no-data|heat-\d)"', column) == ["no-data", "heat-0"]


def test_the_column_says_what_stands_still() -> None:
    cells = [heat.Cell("free"), heat.Cell("down"), heat.Cell("draining"), heat.Cell("no_data")]
    column = heat.node_column(cells, label="x", is_simulated=True)
    for mark in ("heat-free", "heat-down", "heat-draining", "no-data", "is-simulated"):
        assert mark in column


def test_a_bar_without_a_limit_stays_open() -> None:
    markup = svg.usage_bar(svg.Usage(72, 64, None), label="", width=100)
    assert markup.count("bar-track") == 3
    assert "bar-beyond" not in markup
    assert 'class="bar-pale" x="0" y="4" width="75"' in markup


def test_a_fluid_bar_without_a_limit_is_measured_in_per_cent() -> None:
    assert 'x="88.5%"' in svg.usage_bar(svg.Usage(1, 0, None), label="", width=None)
