"""One instance with the demo organisation for all browser tests, and a browser for each person."""

import secrets
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

from portal.setup.testing import chromium
from portal.tests.setup.instances import Running

ARGUMENTS = ["--no-sandbox", "--disable-background-networking"]
WAIT_MS = 40_000
# What is expected may come with the answer to a form, on a machine that runs the whole instance and other tests too.
EXPECT_MS = 20_000
MORE_ROWS = {"exclude": ["tbody tr:nth-child(n+9)"]}
"""A table of 300 rows takes the checker half a minute, and its later rows are like the first."""


class Demo(Running):
    """An instance with the demo organisation, in which each account has the same made-up password."""

    password = secrets.token_urlsafe(12)

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "SLUICE_DEMO_PASSWORD": self.password}


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder: Path = tmp_path_factory.mktemp("browser") / "data"
    running = Demo(folder, options=())
    try:
        assert running.start().startswith("ready "), running.notes()
        running.wait_until_ready()
        yield running
    finally:
        running.end(signal.SIGTERM)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    assert path, "the browser tests need Chromium: ./run test installs it, or name it in SLUICE_CHROMIUM"
    with sync_playwright() as driver:
        expect.set_options(timeout=EXPECT_MS)
        started = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield started
        started.close()


@dataclass
class Visitor:
    """A person at a browser of their own. What the page's console says and what axe finds is kept."""

    page: Page
    faults: list[str]

    def goes_to(self, path: str) -> None:
        answer = self.page.goto(path)
        assert answer is not None
        assert answer.status == 200, path

    def finds_no_barrier(self) -> None:
        """No error in the console so far, and no serious accessibility finding on the page as it is."""
        assert self.faults == [], self.page.url
        found = Axe().run(self.page, context=MORE_ROWS).response["violations"]
        serious = [
            f"{rule['id']}: {node['html'][:160]}"
            for rule in found
            if rule["impact"] in ("serious", "critical")
            for node in rule["nodes"]
        ]
        assert serious == [], self.page.url
        # The checker itself tries inline styles, which our policy refuses.
        self.faults.clear()


@pytest.fixture
def visitor(demo: Demo, browser: Browser) -> Iterator[Callable[[str], Visitor]]:
    """Signs a person of the demo in, in a browser of their own."""
    contexts = []

    def signed_in(name: str) -> Visitor:
        context = browser.new_context(base_url=demo.address, viewport={"width": 1440, "height": 1000})
        context.set_default_timeout(WAIT_MS)
        contexts.append(context)
        page = context.new_page()
        faults: list[str] = []
        page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto("/accounts/login/")
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(demo.password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_role("heading", name="Home").wait_for()
        return Visitor(page, faults)

    yield signed_in
    for context in contexts:
        context.close()
