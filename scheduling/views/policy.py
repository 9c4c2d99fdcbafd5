"""The organisation's policy for the scheduler: everybody may read it, an admin changes it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.models import Person, Role
from accounts.policies import has_role, require_role, require_signed_in
from kernel.dialogs import ask
from scheduling import services
from scheduling.models import SchedulingPolicy
from scheduling.policy import Choices, InForce, policy_now
from scheduling.policy_form import ALL, GROUPS, PolicyForm, initial_of, shown

CHANGES_SHOWN = 10


@require_http_methods(["GET", "POST"])
def policy(request: HttpRequest) -> HttpResponse:
    """GET shows what is in force. POST asks once, naming each change, then puts it in force."""
    if request.method == "POST":
        return _change(request, require_role(request.user, Role.ADMIN))
    person = require_signed_in(request.user)
    now = policy_now()
    form = PolicyForm(initial=initial_of(now.choices, now.version))
    return _page(request, form, can_change=has_role(person, Role.ADMIN))


def _change(request: HttpRequest, actor: Person) -> HttpResponse:
    form = PolicyForm(request.POST)
    if not form.is_valid():
        return _page(request, form, can_change=True)
    now, wanted = policy_now(), form.choices()
    changes = _changes(now, wanted)
    if not changes:
        messages.info(request, _("Nothing differs from the policy in force."))
        return redirect("scheduling:policy")
    data = form.cleaned_data
    if not data["confirmed"]:
        return ask(request, _question(form, changes))
    services.policy_set(actor=actor, choices=wanted, seen_version=data["version"], reason=data["reason"])
    messages.success(request, _("The policy is in force from the next decision on."))
    return redirect("scheduling:policy")


def _changes(now: InForce, wanted: Choices) -> list[str]:
    before, after = now.choices.plain(), wanted.plain()
    text = _("%(label)s: %(before)s → %(after)s %(unit)s")
    return [
        (
            text
            % {
                "label": asked.label,
                "before": shown(asked, before),
                "after": shown(asked, after),
                "unit": asked.unit_word,
            }
        ).strip()
        for asked in ALL
        if before[asked.name] != after[asked.name]
    ]


def _question(form: PolicyForm, changes: list[str]) -> dict[str, object]:
    return {
        "title": _("Put this policy in force?"),
        "text": _("From the next decision on, within seconds. What runs goes on; who has to give way may change."),
        "affected": changes,
        "fields": form.as_hidden(),
        "action": reverse("scheduling:policy"),
        "label": _("Put in force"),
        "cancel_url": reverse("scheduling:policy"),
    }


def _page(request: HttpRequest, form: PolicyForm, *, can_change: bool) -> HttpResponse:
    defaults = Choices().plain()
    groups = [
        (title, [(form[asked.name], asked.unit_word, shown(asked, defaults)) for asked in group])
        for title, group in GROUPS
    ]
    history = SchedulingPolicy.objects.select_related("set_by").order_by("-version")[:CHANGES_SHOWN]
    context = {"form": form, "groups": groups, "history": history, "can_change": can_change}
    return render(request, "scheduling/policy.html", context, status=422 if form.errors else 200)
