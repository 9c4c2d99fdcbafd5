"""Every page that a person reaches by links: no barrier in both themes, no page wider than its window, a visible
focus, headings in order, a way past the frame.

The walk follows one link of each kind (numbers in addresses do not count), so a new page is walked without a line here.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from portal.tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

CHECKS = Path(__file__).with_name("checks.js").read_text(encoding="utf-8")
WIDTHS = (390, 720, 768, 1366, 1440)
"""A phone; 200 % zoom at 1440; a tablet; a laptop; a desk."""
SEEDS = ("/", "/jobs?owner=all", "/search?q=model", "/projects?state=draft", "/projects?state=submitted")
NOT_PAGES = re.compile(r"/export|/csv|/xlsx|/template|/log\b|/state$|/schema|/metrics|^/static/|^/accounts/|/undo")
MOST = 70
OPTIONS = {"resultTypes": ["violations"], "preload": False, "iframes": False, "selectors": False}
RULES = {"light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], "dark": ["color-contrast"]}
"""The themes differ in colours only: the rest is looked at once."""


KNOWN = {
    "admin": "/ /projects /projects/# /projects/new /projects/#/decide /projects/#/history /projects/#/members "
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

    @property
    def page(self) -> Page:
        return self.visitor.page

    def run(self) -> None:
        for script in (AXE_SCRIPT, CHECKS):
            self.page.add_init_script(script)
        for path in self._paths():
            answer = self.page.goto(path)
            if answer is None or answer.status != 200 or "html" not in answer.headers.get("content-type", ""):
                self._note(path, [f"answered {answer and answer.status}"])
                continue
            self.waiting += self._said("links")
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
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 900})
            self._note(f"{path} at {width}", self._said("overflow"))
        self._said("trim")
        self._note(path, self._said("headings"))
        self.page.keyboard.press("Tab")
        self._note(path, self._said("skip"))
        self._note(path, self._said("focus"))
        for theme, rules in RULES.items():
            self._note(f"{path} {theme}", self._barriers(theme, rules))
        self._note(path, self.visitor.faults)
        self.visitor.faults.clear()

    def _turn(self, theme: str) -> None:
        """Wait until the theme is drawn: a colour on its way to another would be measured half-way."""
        self.page.emulate_media(color_scheme="dark" if theme == "dark" else "light", reduced_motion="reduce")
        self.page.wait_for_function("theme => document.documentElement.dataset.bsTheme === theme", arg=theme)
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def _barriers(self, theme: str, rules: list[str]) -> list[str]:
        """What axe finds serious or critical, and finds again: on a busy machine a page may still be drawn."""
        self._turn(theme)
        found = self._found(rules)
        if found:
            self._turn(theme)
            again = self._found(rules)
            found = [fault for fault in found if fault in again]
        # The checker itself tries inline styles, which our policy refuses.
        self.visitor.faults[:] = [line for line in self.visitor.faults if "Content Security Policy" not in line]
        return found

    def _found(self, rules: list[str]) -> list[str]:
        run = "options => axe.run(options).then(found => found.violations)"
        return [
            f"{rule['id']}: {node['html'][:140]}"
            for rule in self.page.evaluate(run, {**OPTIONS, "runOnly": rules})
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
