"""Nodes: the list, one node, its price, and how a node joins."""

from datetime import time, timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role
from accounts.policies import require_role, require_signed_in
from inventory import policies, selectors, services
from inventory.forms import EnrolForm, PriceForm
from inventory.models import Node
from inventory.prices import MINUTES_OF_DAY
from inventory.services import EnrolmentSpec, PriceSpec
from inventory.states import NodeState
from kernel import clock
from kernel.dialogs import ask
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors

PAGE_SIZE = 500


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Every node with state, GPUs, source and price; ``?q=``, ``?state=``, ``?pool=`` limit it."""
    person = require_signed_in(request.user)
    state, matching = request.GET.get("state", ""), request.GET.get("q", "").strip()[:100]
    rows = policies.visible_nodes(person).select_related("pool", "gpu_model").order_by("name")
    rows = rows.filter(state=state) if state in NodeState.values else rows.exclude(state=NodeState.REMOVED)
    if matching:
        rows = rows.filter(name__icontains=matching)
    if request.GET.get("pool"):
        rows = rows.filter(pool__name=request.GET["pool"][:60])
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "nodes": selectors.node_rows(list(page)),
        "state": state,
        "states": NodeState.choices,
        "matching": matching,
        "may_change": policies.may_change(person),
    }
    return render(request, "inventory/nodes.html", context)


@require_GET
def detail(request: HttpRequest, node_id: str) -> HttpResponse:
    """One node: devices, price, capacity facts and the steps of its state."""
    person = require_signed_in(request.user)
    node = _node(person, node_id)
    context = {
        "node": node,
        "row": selectors.node_rows([node])[0],
        "devices": node.devices.select_related("gpu_model"),
        "facts": selectors.capacity_story(node),
        "prices": selectors.price_list(node),
        "changes": selectors.state_story(node),
        "may_change": policies.may_change(person) and node.state != NodeState.REMOVED,
    }
    return render(request, "inventory/node.html", context)


@require_http_methods(["GET", "POST"])
def price(request: HttpRequest, node_id: str) -> HttpResponse:
    """Set a node's price from now on, for all day or some hours of it."""
    actor = require_role(request.user, Role.ADMIN)
    node = _node(actor, node_id)
    form = PriceForm(request.POST or None)
    if form.is_valid():
        try:
            services.price_set(actor=actor, node_id=node.pk, price=_price(form.cleaned_data))
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("The price of %(node)s is set from now on.") % {"node": node.name})
            return redirect("inventory:node", node.pk)
    context = {"form": form, "node": node, "title": _("Price of %(node)s") % {"node": node.name}}
    context["back"] = reverse("inventory:node", args=[node.pk])
    return render(request, "inventory/form.html", context, status=422 if form.errors else 200)


class Enrol(View):
    """Issue a one-time token and show it, with the command to run on the node, this once."""

    def get(self, request: HttpRequest) -> HttpResponse:
        require_role(request.user, Role.ADMIN)
        return _enrol_page(request, EnrolForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        actor = require_role(request.user, Role.ADMIN)
        form = EnrolForm(request.POST)
        if form.is_valid():
            given = form.cleaned_data
            expires_at = clock.now() + timedelta(hours=given["hours"])
            spec = EnrolmentSpec(given["node_name"], given["pool"].pk, given["source"], expires_at)
            try:
                token, secret = services.enrolment_token_issue(actor=actor, spec=spec)
            except Invalid as refusal:
                add_errors(form, refusal)
            else:
                return _enrol_page(request, EnrolForm(), issued=token, secret=secret)
        return _enrol_page(request, form)


@require_http_methods(["GET", "POST"])
def revoke_token(request: HttpRequest, token_id: str) -> HttpResponse:
    """Asks once; then makes an enrolment token useless."""
    actor = require_role(request.user, Role.ADMIN)
    token = policies.visible_tokens(actor).filter(pk=int(token_id)).first()
    if token is None:
        raise NotFound
    if request.method == "POST":
        services.enrolment_token_revoke(actor=actor, token_id=token.pk)
        messages.success(request, _("The token for %(node)s is revoked.") % {"node": token.node_name})
        return redirect("inventory:enrol")
    context = {
        "title": _("Revoke the enrolment token for %(node)s?") % {"node": token.node_name},
        "text": _("A node that has not enrolled with it yet no longer can."),
        "action": request.path,
        "label": _("Revoke"),
        "danger": True,
        "cancel_url": reverse("inventory:enrol"),
    }
    return ask(request, context)


@never_cache
def _enrol_page(request: HttpRequest, form: EnrolForm, **shown: Any) -> HttpResponse:
    tokens = policies.visible_tokens(request.user).select_related("pool", "issued_by").order_by("-created_at")[:50]
    context = {"form": form, "tokens": tokens, "now": clock.now(), "portal_url": settings.BASE_URL, **shown}
    return render(request, "inventory/enrol.html", context, status=422 if form.errors else 200)


def _node(person: object, node_id: str) -> Node:
    node = policies.visible_nodes(person).select_related("pool", "gpu_model").filter(pk=int(node_id)).first()
    if node is None:
        raise NotFound
    return node


def _price(given: dict[str, Any]) -> PriceSpec:
    last = given["last"]
    return PriceSpec(
        per_gpu_hour=given["per_gpu_hour"],
        currency=given["currency"].upper(),
        first_minute=_minute(given["first"]),
        last_minute=_minute(last) if last and last != time.min else MINUTES_OF_DAY,
    )


def _minute(at: time) -> int:
    return at.hour * 60 + at.minute
