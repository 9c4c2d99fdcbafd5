"""The chart of use over time in a real browser, without a server."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from playwright.sync_api import Browser, Page, Route, expect

pytestmark = pytest.mark.browser

SITE = "http://charts.test"
SCRIPTS = ("vendor/uplot/uPlot.iife.min.js", "js/chart.js")
USE: dict[str, Any] = {
    "start": "2026-06-09T00:00:00Z",
    "at": "2026-06-09T02:30:00Z",
    "step_s": 3600,
    "is_stacked": True,
    "is_simulated": True,
    "series": [
        {"label": "A100", "css_class": "model-a100", "values": [2, 2, 1.5]},
        {"label": "H100", "css_class": "model-h100", "values": [4, 0, 4]},
    ],
    "lines": [
        {"label": "Guaranteed", "kind": "guaranteed", "values": [None, 4, 4]},
        {"label": "Limit", "kind": "limit", "values": [None, None, None]},
    ],
    "gaps": [[1, 1]],
    "gap_label": "no news from a node",
}
BODY = """<!doctype html><html data-zone="UTC"><body>
<div id="use" data-chart data-url="/use" data-empty="nothing"></div>
<span data-chart-keys="use"></span><span data-chart-at="use" data-word="as of" data-stale-word="last right"></span>
<span data-chart-simulated="use" hidden>simulated</span>"""


def _page(browser: Browser, answers: list[dict[str, Any] | None]) -> Page:
    """A page whose chart asks every second; ``None`` is an answer that fails."""
    scripts = "".join(f'<script src="/{name}"></script>' for name in SCRIPTS)
    body = BODY.replace("data-chart data-url", 'data-chart data-every="1" data-url') + scripts
    left = list(answers)

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(f"{SITE}/")
        if name == "use":
            now = left.pop(0) if len(left) > 1 else left[0]
            route.fulfill(status=200 if now else 500, body=json.dumps(now), content_type="application/json")
        elif name in SCRIPTS:
            route.fulfill(body=Path(str(finders.find(name))).read_text(), content_type="text/javascript")
        else:
            route.fulfill(body=body, content_type="text/html")

    page = browser.new_context().new_page()
    page.route("**/*", answer)
    page.goto(SITE)
    return page


def test_areas_lie_on_each_other_and_the_last_step_ends_now(browser: Browser) -> None:
    page = _page(browser, [USE])
    page.wait_for_function("() => document.querySelector('#use').chart")
    times, tallest, lowest, guaranteed, limit = page.evaluate("() => document.querySelector('#use').chart.data")
    assert tallest == [6, 2, 5.5, 5.5]
    assert lowest == [2, 2, 1.5, 1.5]
    assert guaranteed == [None, 4, 4, 4]
    assert limit == [None] * 4
    assert times[-1] - times[0] == 2.5 * 3600


def test_what_follows_the_chart_says_values_time_and_what_is_simulated(browser: Browser) -> None:
    page = _page(browser, [USE])
    expect(page.locator("[data-chart-keys]")).to_have_text("A100 1.5H100 4Guaranteed 4no news from a node")
    expect(page.locator("[data-chart-at]")).to_have_text("as of 02:30:00")
    expect(page.locator("[data-chart-simulated]")).to_be_visible()


def test_figures_that_are_no_longer_current_say_so(browser: Browser) -> None:
    page = _page(browser, [USE, None])
    expect(page.locator("[data-chart-at]")).to_have_text("last right 02:30:00")
    assert page.evaluate("() => document.querySelector('#use').chart.data[1][0]") == 6


def test_nothing_held_and_nothing_promised_is_said_in_words(browser: Browser) -> None:
    page = _page(browser, [{**USE, "series": [], "lines": [], "gaps": []}])
    expect(page.locator("#use")).to_have_text("nothing")
