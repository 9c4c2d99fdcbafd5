"""Saved views for tests: keeping one, and what the tabs over the table say."""

import re
from typing import Any

from django.test import Client

from accounts.models import Person
from portal.models import SavedView
from portal.pages.views import services
from portal.pages.views.services import ViewSpec


def save(owner: Person, name: str = "Mine", query: str = "state=active", **more: Any) -> SavedView:
    return services.view_create(actor=owner, spec=ViewSpec(name, query, **more))


def page(browser: Client, address: str = "/projects") -> str:
    answer: Any = browser.get(address, follow=True)
    assert answer.status_code == 200, answer.content[:300]
    return str(answer.content.decode())


def tabs(text: str) -> list[tuple[str, str]]:
    """Word and count of each tab."""
    found = re.findall(r'<a class="tab"[^>]*>(.*?)</a>', text, flags=re.S)
    return [
        (re.sub("<[^>]+>", "", re.sub(r'<span class="count">.*', "", tab)), "".join(re.findall(r'"count">(\d+)', tab)))
        for tab in found
    ]


def current(text: str) -> str:
    found = re.search(r'aria-current="page"[^>]*><span class="tab-word">(.*?)</span>', text)
    return found[1] if found else ""


def page_after(browser: Client, address: str, data: dict[str, str] | None = None) -> str:
    answer: Any = browser.post(address, data or {}, follow=True)
    assert answer.status_code == 200, answer.content[:300]
    return str(answer.content.decode())
