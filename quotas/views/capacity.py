"""Acts that change capacity, reserve or whom a pool is for: each refused where promises exceed what would be left."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.models import Person, Role
from accounts.policies import require_role
from inventory.models import GpuModel, Node, Pool
from inventory.policies import visible_nodes, visible_pools
from kernel.dialogs import ask
from kernel.errors import Conflict, Invalid, NotFound
from kernel.forms import add_errors
from quotas import services
from quotas.forms import CapacityForm, MoveForm, ReasonForm, ReserveForm
from quotas.services.capacity import registered_models

methods = require_http_methods(["GET", "POST"])


@methods
def reserve(request: HttpRequest, model_id: str) -> HttpResponse:
    """Set a model's emergency reserve."""
    actor = require_role(request.user, Role.ADMIN)
    model = GpuModel.objects.filter(pk=int(model_id)).first()
    if model is None:
        raise NotFound
    form = ReserveForm(request.POST or None)

    def act() -> None:
        given = form.cleaned_data
        services.reserve_set(
            actor=actor,
            gpu_model_id=model.pk,
            basis_points=int(given["per_cent"] * 100),
            effective_from=given["effective_from"],
            reason=given["reason"],
        )

    words = _("Emergency reserve of %(model)s") % {"model": model.title}
    return _form_page(request, form, act, words, reverse("quotas:list"))


@methods
def capacity(request: HttpRequest, node_id: str) -> HttpResponse:
    """Say how many of a node's GPUs count as capacity."""
    actor = require_role(request.user, Role.ADMIN)
    node = _node(actor, node_id)
    form = CapacityForm(request.POST or None, models=registered_models(node), initial={"gpu_model": node.gpu_model_id})

    def act() -> None:
        given = form.cleaned_data
        services.capacity_change(
            actor=actor,
            node_id=node.pk,
            gpus=given["gpus"],
            gpu_model_id=given["gpu_model"].pk,
            effective_from=given["effective_from"],
            reason=given["reason"],
        )

    words = _("Capacity of %(node)s") % {"node": node.name}
    return _form_page(request, form, act, words, reverse("inventory:node", args=[node.pk]))


@methods
def node_pool(request: HttpRequest, node_id: str) -> HttpResponse:
    """Move a node to another pool."""
    actor = require_role(request.user, Role.ADMIN)
    node = _node(actor, node_id)
    form = MoveForm(request.POST or None, initial={"pool": node.pool_id})

    def act() -> None:
        given = form.cleaned_data
        services.node_move(actor=actor, node_id=node.pk, pool_id=given["pool"].pk, reason=given["reason"])

    words = _("Move %(node)s to another pool") % {"node": node.name}
    return _form_page(request, form, act, words, reverse("inventory:node", args=[node.pk]))


@methods
def dedicate(request: HttpRequest, pool_id: str) -> HttpResponse:
    """Asks once; then keeps a pool's GPUs for its purpose."""
    actor = require_role(request.user, Role.ADMIN)
    pool = _pool(actor, pool_id)
    text = _("Its GPUs are promised to its purpose from now on; no project is guaranteed any of them.")
    title = _("Dedicate pool %(pool)s?") % {"pool": pool.title}

    def act(reason: str) -> None:
        services.pool_dedicate(actor=actor, pool_id=pool.pk, reason=reason)

    return _ask(request, act, {"title": title, "text": text, "label": _("Dedicate")})


@methods
def release(request: HttpRequest, pool_id: str) -> HttpResponse:
    """Asks once; then gives a pool's GPUs back to all."""
    actor = require_role(request.user, Role.ADMIN)
    pool = _pool(actor, pool_id)
    text = _("Its GPUs can be promised to any project from now on.")
    title = _("Share pool %(pool)s with all?") % {"pool": pool.title}

    def act(reason: str) -> None:
        services.pool_release(actor=actor, pool_id=pool.pk, reason=reason)

    return _ask(request, act, {"title": title, "text": text, "label": _("Share")})


def _form_page(request: HttpRequest, form: forms.Form, act: Callable[[], None], title: str, back: str) -> HttpResponse:
    if form.is_valid():
        try:
            act()
        except Invalid as refusal:
            add_errors(form, refusal)
        except Conflict as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, _("Changed."))
            return redirect(back)
    context = {"form": form, "title": title, "back": back}
    return render(request, "quotas/form.html", context, status=422 if form.errors else 200)


def _ask(request: HttpRequest, act: Callable[[str], None], words: dict[str, Any]) -> HttpResponse:
    form = ReasonForm(request.POST or None)
    back = reverse("inventory:pools")
    if form.is_valid():
        act(form.cleaned_data["reason"])
        messages.success(request, _("Changed."))
        return redirect(back)
    context = {**words, "fields": form, "action": request.path, "danger": True, "cancel_url": back}
    return ask(request, context)


def _node(actor: Person, node_id: str) -> Node:
    node = visible_nodes(actor).filter(pk=int(node_id)).first()
    if node is None:
        raise NotFound
    return node


def _pool(actor: Person, pool_id: str) -> Pool:
    pool = visible_pools(actor).filter(pk=int(pool_id)).first()
    if pool is None:
        raise NotFound
    return pool
