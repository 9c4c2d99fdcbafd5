"""Charts in a real browser, without a server: the page, its scripts and its samples are given to it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.browser

SITE = "http://charts.test"
SCRIPTS = ("vendor/uplot/uPlot.iife.min.js", "js/chart.js")
POINTS = "chart => { const u = document.querySelector('[data-chart]').chart; return u.series[1].points.filter(u, 1); }"


def _page(browser: Browser, values: Sequence[float | None]) -> Page:
    scripts = "".join(f'<script src="/{name}"></script>' for name in SCRIPTS)
    body = (
        f'<!doctype html><html data-zone="UTC"><body><div data-chart data-url="/samples"></div>{scripts}</body></html>'
    )
    samples = {
        "start": "2026-06-09T00:00:00Z",
        "step_s": 60,
        "unit": "%",
        "max": 100,
        "series": [{"label": "GPU 0", "values": list(values)}],
    }

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(f"{SITE}/")
        if name == "samples":
            route.fulfill(body=json.dumps(samples), content_type="application/json")
        elif name in SCRIPTS:
            route.fulfill(body=Path(str(finders.find(name))).read_text(), content_type="text/javascript")
        else:
            route.fulfill(body=body, content_type="text/html")

    page = browser.new_context().new_page()
    page.route("**/*", answer)
    page.goto(SITE)
    page.wait_for_function("() => document.querySelector('[data-chart]').chart")
    return page


@pytest.mark.parametrize(
    ("values", "points"),
    [
        ([90.0], [0]),
        ([90.0, 91.0], [0, 1]),
        ([None, 90.0, None, 80.0, 81.0, None], [1, 3, 4]),
        ([None] * 3 + [0.0], [3]),
        ([90.0, 91.0, 92.0], []),
        ([None, 1.0, 2.0, 3.0, None, 4.0], [5]),
    ],
)
def test_a_stretch_too_short_for_a_line_has_points(
    browser: Browser, values: list[float | None], points: list[int]
) -> None:
    page = _page(browser, values)
    try:
        assert page.evaluate(POINTS) == points
    finally:
        page.context.close()
