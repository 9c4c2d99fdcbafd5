"""How people get in: one page for passwords and single sign-on, a lock-out that says how long it lasts."""

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from axes.helpers import get_client_ip_address, get_cool_off
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

TEMPLATE = "accounts/login.html"


class _Refused(AuthenticationForm):
    """What was typed, without trying it."""

    def clean(self) -> dict[str, Any]:
        return self.cleaned_data


def single_sign_on() -> dict[str, str]:
    """What the page needs to offer the organisation's identity provider; nothing where there is none."""
    apps = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    if not apps:
        return {}
    url = reverse("openid_connect_login", kwargs={"provider_id": apps[0]["provider_id"]})
    return {"sso_url": url, "sso_label": _("Sign in with %(name)s") % {"name": apps[0]["name"]}}


def refusal_page(request: HttpRequest, sentence: str, status: int) -> HttpResponse:
    """The sign-in page with the reason why nobody was let in."""
    form = _Refused(request, data=request.POST or {"username": "-", "password": "-"})
    form.full_clean()
    form.errors.clear()
    form.add_error(None, sentence)
    form.data = {"username": request.POST.get("username", "")}
    return render(request, TEMPLATE, {"form": form, **single_sign_on()}, status=status)


def locked_out(request: HttpRequest, _response: HttpResponse, credentials: Mapping[str, Any]) -> HttpResponse:
    """Shown while too many attempts have failed for one name from one address (``AXES_LOCKOUT_CALLABLE``)."""
    seconds = waiting_seconds(request, credentials)
    minutes = max(1, math.ceil(seconds / 60))
    sentence = ngettext(
        "Too many attempts have failed for this user name from this address. Try again in %(minutes)s minute.",
        "Too many attempts have failed for this user name from this address. Try again in %(minutes)s minutes.",
        minutes,
    ) % {"minutes": minutes}
    response = refusal_page(request, sentence, status=429)
    response["Retry-After"] = str(math.ceil(seconds))
    return response


def waiting_seconds(request: HttpRequest, credentials: Mapping[str, Any]) -> float:
    """Until when the lock-out lasts at most: attempts that it refuses do not make it longer."""
    cool_off: timedelta = get_cool_off(request)
    attempts = AccessAttempt.objects.filter(
        username=username_of(request, credentials), ip_address=get_client_ip_address(request)
    )
    last = attempts.order_by("-attempt_time").values_list("attempt_time", flat=True).first()
    left: timedelta = cool_off if last is None else last + cool_off - timezone.now()
    return max(1.0, left.total_seconds())


def username_of(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str:
    """Under which name attempts are counted: accounts are found in any case of letters, so it is one count."""
    source: Mapping[str, Any] = credentials if credentials else request.POST
    return str(source.get("username") or "").strip().lower()
