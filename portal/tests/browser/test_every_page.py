"""Every page that a person reaches by links: no barrier in both themes, no page wider than its window, a visible
focus, headings in order, a way past the frame.

The walk follows one link of each kind (numbers in addresses do not count), so a new page is walked without a line here.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, TimeoutError

from portal.tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

CHECKS = Path(__file__).with_name("checks.js").read_text(encoding="utf-8")
WIDTHS = (390, 720, 768, 1366, 1440)
"""A phone; 200 % zoom at 1440; a tablet; a laptop; a desk."""
SEEDS = (
    "/",
    "/jobs?owner=all",
    "/search?q=model",
    "/projects?state=draft",
    "/projects?state=submitted",
    "/projects/1/edit",
)
"""The last is of an active project: the first one that a walk meets may be one that cannot be edited now."""
NOT_PAGES = re.compile(r"/export|/csv|/xlsx|/template|/log\b|/state$|/schema|/metrics|^/static/|^/accounts/|/undo")
MOST = 70
LINKS_ONLY = frozenset({"/projects?state=draft", "/projects?state=submitted"})
"""The table of projects once more: asked for the links to what is in these states."""
FRAME = ".rail, .top"
"""The same on every page: looked at on the first one of each person."""
OPTIONS = {
    "resultTypes": ["violations"],
    "preload": False,
    "iframes": False,
    "selectors": False,
}
CONTRAST = {"runOnly": ["color-contrast"]}
REST = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    # The second is costly, and moderate: what it finds would not count.
    "rules": {"color-contrast": {"enabled": False}, "region": {"enabled": False}},
}
THEMES = ("light", "dark")
"""They differ in colours only: the rest is looked at once. Colours are looked at on one text of each kind."""


KNOWN = {
    "admin": "/ /projects /projects/# /projects/new /approvals/# /projects/#/history /projects/#/members "
    "/projects/#/quota /quotas /quotas/grant /jobs /jobs/# /cluster /cluster/nodes/# /nodes /nodes/enrol /pools "
    "/people /people/# /audit /tokens /design",
    "lead": "/ /projects /projects/# /projects/new /projects/#/edit /projects/#/members /jobs /jobs/new /jobs/#",
}
"""What the walk must have found; otherwise it proves nothing."""
ALIKE = frozenset(
    {"/design", "/cluster", "/cluster/nodes/#", "/nodes", "/nodes/#", "/pools", "/password", "/search?q=model"}
)


@dataclass
class Walk:
    """A person on the way through the pages; `faults` names page and fault."""

    visitor: Visitor
    waiting: list[str]
    known: frozenset[str] = frozenset()
    """Kinds of pages that look the same to everybody and were walked by somebody else."""
    seen: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    theme: str = ""

    @property
    def page(self) -> Page:
        return self.visitor.page

    def run(self) -> None:
        for script in (AXE_SCRIPT, CHECKS):
            self.page.add_init_script(script)
        self._turn(THEMES[0])
        for path in self._paths():
            answer = self.page.goto(path)
            if answer is None or answer.status != 200 or "html" not in answer.headers.get("content-type", ""):
                self._note(path, [f"answered {answer and answer.status}"])
                continue
            self.waiting += self._said("links")
            if path not in LINKS_ONLY:
                self._look(path)

    def _paths(self) -> Iterator[str]:
        while self.waiting and len(self.seen) < MOST:
            path = self.waiting.pop(0).split("#")[0]
            kind = kind_of(path)
            if (
                kind in self.seen | self.known
                or NOT_PAGES.search(path.split("?")[0])
                or ("?" in path and path not in SEEDS)
            ):
                continue
            self.seen.add(kind)
            yield path

    def _look(self, path: str) -> None:
        self._fits(path, WIDTHS[0])
        self._said("trim")
        for width in WIDTHS[1:]:
            self._fits(path, width)
        self._note(path, self._said("headings"))
        self.page.keyboard.press("Tab")
        self._note(path, self._said("skip"))
        self._note(path, self._said("focus"))
        self._note(path, self._barriers(REST))
        # The page was loaded in one theme and is turned to the other; the next page is loaded in that one.
        for theme in sorted(THEMES, key=lambda theme: theme != self.theme):
            self._turn(theme)
            self._note(f"{path} {theme}", self._barriers(CONTRAST))
        self._note(path, self.visitor.faults)
        self.visitor.faults.clear()

    def _fits(self, path: str, width: int) -> None:
        """Charts follow the window a moment later: what is too wide is looked at again, and then counts."""
        self.page.set_viewport_size({"width": width, "height": 900})
        if self._said("overflow"):
            with suppress(TimeoutError):
                self.page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth", timeout=2000)
        self._note(f"{path} at {width}", self._said("overflow"))

    def _turn(self, theme: str) -> None:
        """Wait until the theme is drawn: a colour on its way to another would be measured half-way."""
        if theme == self.theme:
            return
        self.theme = theme
        self.page.emulate_media(color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce")
        self.page.wait_for_function("theme => document.documentElement.dataset.bsTheme === theme", arg=theme)
        self._wait_until_drawn()

    def _wait_until_drawn(self) -> None:
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def _barriers(self, rules: dict[str, Any]) -> list[str]:
        """What axe finds serious or critical. A page that was still being drawn is looked at again at once, and what
        is found then counts."""
        found = self._found(rules)
        if found:
            self._wait_until_drawn()
            found = self._found(rules)
        # The checker itself tries inline styles, which our policy refuses.
        self.visitor.faults[:] = [line for line in self.visitor.faults if "Content Security Policy" not in line]
        return found

    def _found(self, rules: dict[str, Any]) -> list[str]:
        frame = "" if len(self.seen) == 1 else FRAME
        what = "sluiceChecks.texts(frame)" if rules is CONTRAST else "{exclude: frame ? [frame] : []}"
        run = f"([frame, options]) => axe.run({what}, options).then(found => found.violations)"
        return [
            f"{rule['id']}: {node['html'][:140]}"
            for rule in self.page.evaluate(run, [frame, {**OPTIONS, **rules}])
            if rule["impact"] in ("serious", "critical")
            for node in rule["nodes"]
        ]

    def _said(self, check: str) -> list[str]:
        return list(self.page.evaluate(f"sluiceChecks.{check}()"))

    def _note(self, where: str, faults: list[str]) -> None:
        self.faults += [f"{where}: {fault}" for fault in faults]


def kind_of(path: str) -> str:
    """The address without what differs from row to row; a seed's question is a kind of its own."""
    plain = path if path in SEEDS else path.split("?")[0]
    return re.sub(r"[0-9a-f-]{36}|\d+", "#", plain).rstrip("/") or "/"


@pytest.mark.parametrize("name", ["admin", "lead"])
def test_every_page_can_be_read_and_used(visitor: Callable[[str], Visitor], name: str) -> None:
    walk = Walk(visitor(name), list(SEEDS), ALIKE if name == "lead" else frozenset())
    walk.run()
    assert walk.faults == []
    assert set(KNOWN[name].split()) <= walk.seen
