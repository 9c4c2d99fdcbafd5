"""Short messages that lie over the page: with a way back where something can be undone.

``django.contrib.messages`` carries them to the next full page; an answer that only exchanges a part announces its
own in a header. What a toast offers is an address of ours that checks permission itself, as for every other button.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from django.contrib import messages
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

Kind = Literal["success", "info", "warning", "error"]
EVENT = "sluice:toast"
LONGEST = 400
"""Characters of an announced message: it travels in a header."""


@dataclass(frozen=True)
class Act:
    """What a toast offers: a button that posts `fields` to `url`, or a link to it."""

    label: str
    url: str
    fields: Mapping[str, str] = field(default_factory=dict)
    is_link: bool = False


def undoable(request: HttpRequest, text: str, *, url: str, fields: Mapping[str, str] | None = None) -> None:
    """Say on the next page what was done, with a button that posts `fields` to `url` and so takes it back."""
    offer(request, text, Act(_("Undo"), url, fields or {}))


def offer(request: HttpRequest, text: str, act: Act) -> None:
    """Say on the next page what was done, with something to do about it."""
    messages.success(request, text, extra_tags=json.dumps(asdict(act)))


def act_of(message: Message) -> Act | None:
    """What a message offers; none for a plain one."""
    tags = message.extra_tags or ""
    if not tags.startswith("{"):
        return None
    return Act(**json.loads(tags))


def announce(response: HttpResponse, text: str, kind: Kind = "success", act: Act | None = None) -> None:
    """Show a toast beside a part that htmx exchanges; beside a refusal too, which exchanges nothing."""
    said: dict[str, Any] = {"kind": kind, "text": text[:LONGEST]}
    if act:
        said["act"] = asdict(act)
    response["HX-Trigger"] = json.dumps({EVENT: said})
