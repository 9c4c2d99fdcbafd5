"""The page of people: admins change it, auditors read it."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts import selectors, services
from accounts.forms import PersonForm, TokenForm
from accounts.models import Person, Role
from accounts.policies import has_role, require_role
from accounts.services import TokenTerms
from kernel import clock
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors

PAGE_SIZE = 200


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Everybody, with roles and state; ``?q=`` looks in the names, ``?state=`` limits to active or not."""
    require_role(request.user, Role.ADMIN, Role.AUDITOR)
    matching = request.GET.get("q", "").strip()[:100]
    rows = selectors.people(request.user, matching=matching)
    state = request.GET.get("state", "")
    if state in ("active", "deactivated"):
        rows = rows.filter(is_active=state == "active")
    page = Paginator(selectors.with_roles(rows), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"page": page, "matching": matching, "state": state, "may_change": has_role(request.user, Role.ADMIN)}
    return render(request, "accounts/people.html", context)


class Create(View):
    """A person, or an account for a program."""

    def get(self, request: HttpRequest) -> HttpResponse:
        require_role(request.user, Role.ADMIN)
        return self._page(request, PersonForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        actor = require_role(request.user, Role.ADMIN)
        form = PersonForm(request.POST)
        if not form.is_valid():
            return self._page(request, form)
        try:
            person = _create(actor, form.cleaned_data)
        except Invalid as refusal:
            add_errors(form, refusal)
            return self._page(request, form)
        messages.success(request, _("%(person)s was created, without a role.") % {"person": person})
        return redirect("accounts:person", person.pk)

    def _page(self, request: HttpRequest, form: PersonForm) -> HttpResponse:
        return render(request, "accounts/person_new.html", {"form": form}, status=422 if form.errors else 200)


@require_GET
def detail(request: HttpRequest, person_id: str) -> HttpResponse:
    """One person: roles, state; of a service account also its tokens."""
    require_role(request.user, Role.ADMIN, Role.AUDITOR)
    return render(request, "accounts/person.html", _person_context(request, person_id))


@require_POST
def grant(request: HttpRequest, person_id: str) -> HttpResponse:
    services.role_grant(
        actor=require_role(request.user, Role.ADMIN), person_id=int(person_id), role=request.POST.get("role", "")
    )
    messages.success(request, _("The role was granted."))
    return redirect("accounts:person", person_id)


@require_http_methods(["GET", "POST"])
def revoke(request: HttpRequest, person_id: str, role: str) -> HttpResponse:
    """Asks once, naming who loses what; then revokes."""
    actor = require_role(request.user, Role.ADMIN)
    person = _person(request, person_id)
    if request.method == "POST":
        services.role_revoke(actor=actor, person_id=int(person_id), role=role)
        messages.success(request, _("The role was revoked."))
        return redirect("accounts:person", person_id)
    label = Role(role).label if role in Role.values else role
    words = {"person": person, "role": label}
    return _confirm(
        request,
        title=_("Revoke the role “%(role)s” of %(person)s?") % words,
        text=_("From now on %(person)s can do nothing for which this role is needed.") % words,
        label=_("Revoke"),
        cancel_url=reverse("accounts:person", args=[person_id]),
    )


@never_cache
@require_POST
def issue_token(request: HttpRequest, person_id: str) -> HttpResponse:
    """A token for a service account; its secret is shown on this page once."""
    actor = require_role(request.user, Role.ADMIN)
    form = TokenForm(request.POST)
    context = _person_context(request, person_id)
    if form.is_valid():
        data = form.cleaned_data
        terms = TokenTerms(data["name"], [data["scopes"]], data["days"])
        try:
            issued = services.token_issue(actor=actor, owner=context["person"], terms=terms)
            return render(request, "accounts/person.html", {**context, "issued": issued})
        except Invalid as refusal:
            add_errors(form, refusal)
    return render(request, "accounts/person.html", {**context, "token_form": form}, status=422)


def _create(actor: Person, data: dict[str, Any]) -> Person:
    names = {"username": data["username"], "display_name": data["display_name"]}
    if data["is_service"]:
        return services.service_account_create(actor=actor, **names)
    return services.person_create(actor=actor, **names, email=data["email"], password=data["password"] or None)


def _person(request: HttpRequest, person_id: str) -> Person:
    person = selectors.with_roles(selectors.people(request.user)).filter(pk=person_id).first()
    if person is None:
        raise NotFound
    return person


def _person_context(request: HttpRequest, person_id: str) -> dict[str, Any]:
    person = _person(request, person_id)
    held = {grant.role for grant in person.live_grants}  # type: ignore[attr-defined]
    return {
        "person": person,
        "grants": person.live_grants,  # type: ignore[attr-defined]
        "grantable": [(role.value, role.label) for role in Role if role not in held],
        "may_change": has_role(request.user, Role.ADMIN) and person.pk != request.user.pk,
        "tokens": selectors.service_account_tokens(person) if person.is_service else None,
        "token_form": TokenForm(),
        "offboardings": selectors.offboardings(request.user, person.pk),
        "now": clock.now(),
    }


def _confirm(request: HttpRequest, **words: Any) -> HttpResponse:
    """As a page, or as the content of a dialog."""
    return ask(request, {"action": request.path, "danger": True, **words})
