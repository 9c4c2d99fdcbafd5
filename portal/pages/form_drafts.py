"""Forms that are saved as one types, for every room: saving one, and discarding it."""

import json
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from accounts.policies import require_signed_in
from kernel import form_drafts
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound, PortalError, TooLarge
from kernel.form_drafts import MAX_BYTES, Typed

LONGEST_BODY = 2 * MAX_BYTES
"""What is kept has a bound of its own; escaped and with its envelope it is longer."""


@require_POST
def save(request: HttpRequest, key: str) -> JsonResponse:
    """Keep what ``static/js/autosave.js`` sends. Answers with the version, or with why it was not kept."""
    person = require_signed_in(request.user)
    try:
        draft = form_drafts.save(owner_id=person.pk, key=_as_key(key), typed=_typed(request.body))
    except PortalError as refusal:
        return JsonResponse({"message": refusal.message, "code": refusal.code, **refusal.data}, status=refusal.status)
    return JsonResponse({"version": draft.version, "saved_at": draft.saved_at.isoformat()})


@require_http_methods(["GET", "POST"])
def discard(request: HttpRequest, key: str) -> HttpResponse:
    """Asks once; then forgets it and leads to where the form is begun anew."""
    person = require_signed_in(request.user)
    draft = form_drafts.one(person.pk, _as_key(key))
    kind = form_drafts.kind_of(draft)
    if request.method == "POST":
        form_drafts.discard(owner_id=person.pk, key=draft.key)
        messages.success(request, _("Discarded."))
        return redirect(kind.start(draft))
    context = {
        "title": _("Discard “%(title)s”?") % {"title": kind.title(draft)},
        "text": _("What you typed and did not send is forgotten. This cannot be undone."),
        "label": _("Discard"),
        "danger": True,
        "action": reverse("form-draft-discard", args=[draft.key]),
        "cancel_url": kind.address(draft),
    }
    return ask(request, context)


def _as_key(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise NotFound from None


def _typed(body: bytes) -> Typed:
    """Raises ``Invalid`` for what is no such message, ``TooLarge``."""
    if len(body) > LONGEST_BODY:
        raise TooLarge(data={"max_bytes": MAX_BYTES})
    try:
        sent: Any = json.loads(body)
        data = {str(name): [str(value) for value in values] for name, values in sent["data"].items()}
        texts = {name: str(sent.get(name, "")) for name in ("subject", "seen", "writer")}
        return Typed(form=str(sent["form"]), data=data, version=int(sent.get("version", 0)), **texts)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise Invalid({"data": _("This is no form as it was typed.")}) from error
