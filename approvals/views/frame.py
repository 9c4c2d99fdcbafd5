"""What every page of the room has around it: tabs, with true counts of what is open, and where things are."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import Person
from accounts.policies import has_role
from approvals.policies import SEES_ALL
from approvals.queue import Queue, queue_of
from approvals.waiting_count import remember


def tabs(person: Person, current: str, queue: Queue | None = None) -> list[dict[str, Any]]:
    """The pages of the room that this person may open; ``queue`` where the page has read it already."""
    there = queue or queue_of(person)
    remember(person.pk, len(there.mine))
    pages: list[tuple[str, str, int | None]] = [
        ("list", _("Waiting for you"), len(there.mine)),
        ("others", _("Waiting for others"), len(there.others)),
        ("decided", _("Decided"), None),
    ]
    if has_role(person, *SEES_ALL):
        pages.append(("policies", _("Policies"), None))
    return [
        {"url": reverse(f"approvals:{name}"), "label": label, "count": count, "is_current": name == current}
        for name, label, count in pages
    ]


def framed(person: Person, current: str, context: Mapping[str, Any], queue: Queue | None = None) -> dict[str, Any]:
    """The context of a page with its tabs."""
    return {"tabs": tabs(person, current, queue), **context}
