"""Pools and their policies."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role
from accounts.policies import require_role, require_signed_in
from inventory import policies, selectors, services
from inventory.forms import NewPoolForm, PoolForm
from inventory.services import PoolSpec
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Every pool with its nodes and GPUs."""
    person = require_signed_in(request.user)
    context = {"pools": selectors.pool_rows(), "may_change": policies.may_change(person)}
    return render(request, "inventory/pools.html", context)


@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """A new shared pool."""
    actor = require_role(request.user, Role.ADMIN)
    form = NewPoolForm(request.POST or None)
    if form.is_valid():
        try:
            pool = services.pool_create(actor=actor, spec=PoolSpec(**form.cleaned_data))
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("Pool %(pool)s was created.") % {"pool": pool})
            return redirect("inventory:pools")
    return _form_page(request, form, _("New pool"))


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, pool_id: str) -> HttpResponse:
    """Change a pool's policy."""
    actor = require_role(request.user, Role.ADMIN)
    pool = policies.visible_pools(actor).filter(pk=int(pool_id)).first()
    if pool is None:
        raise NotFound
    names = list(PoolForm.base_fields)
    form = PoolForm(request.POST or None, initial={name: getattr(pool, name) for name in names})
    if form.is_valid():
        try:
            services.pool_edit(actor=actor, pool_id=pool.pk, changes=form.cleaned_data)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("Pool %(pool)s was changed.") % {"pool": pool})
            return redirect("inventory:pools")
    return _form_page(request, form, _("Pool %(pool)s") % {"pool": pool})


def _form_page(request: HttpRequest, form: PoolForm, title: str) -> HttpResponse:
    context = {"form": form, "title": title, "back": reverse("inventory:pools")}
    return render(request, "inventory/form.html", context, status=422 if form.errors else 200)
