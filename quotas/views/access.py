"""The page of a dedicated pool: who may use it, opening it, ending that."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.models import Person, Role
from accounts.policies import has_role, require_role, require_signed_in
from inventory.models import Pool, PoolKind
from inventory.policies import visible_pools
from kernel.dialogs import ask
from kernel.errors import Conflict, Forbidden, Invalid, NotFound
from kernel.forms import add_errors
from quotas import selectors, services
from quotas.forms import AccessForm, ReasonForm
from quotas.models import PoolAccess

methods = require_http_methods(["GET", "POST"])


@methods
def access(request: HttpRequest, pool_id: str) -> HttpResponse:
    """Who may use the pool; an admin opens it to one more."""
    person = require_signed_in(request.user)
    pool = visible_pools(person).filter(pk=int(pool_id)).first()
    if pool is None:
        raise NotFound
    form = AccessForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        actor = require_role(person, Role.ADMIN)
        if _opened(actor, pool, form):
            messages.success(request, _("Access to pool %(pool)s is given.") % {"pool": pool.title})
            return redirect("quotas:pool-access", pool.pk)
    context = {
        "pool": pool,
        "is_dedicated": pool.kind == PoolKind.DEDICATED,
        "rows": selectors.visible_access(person, pool.pk),
        "form": form,
        "may_open": has_role(person, Role.ADMIN),
    }
    return render(request, "quotas/access.html", context, status=422 if form.errors else 200)


@methods
def end(request: HttpRequest, pool_id: str, access_id: str) -> HttpResponse:
    """Asks once, naming who loses access; then ends it."""
    actor = require_role(request.user, Role.ADMIN)
    row = PoolAccess.objects.select_related("pool", "project", "area").filter(pk=int(access_id), pool=int(pool_id))
    found = row.first()
    if found is None:
        raise NotFound
    back = reverse("quotas:pool-access", args=[found.pool_id])
    form = ReasonForm(request.POST or None)
    if form.is_valid():
        services.pool_close(actor=actor, access_id=found.pk, reason=form.cleaned_data["reason"])
        messages.success(request, _("The access has ended."))
        return redirect(back)
    context = {
        "title": _("End access to pool %(pool)s?") % {"pool": found.pool.title},
        "text": _("What runs there runs on; nothing new of theirs starts in this pool."),
        "affected": [str(found.holder)],
        "fields": form,
        "action": request.path,
        "label": _("End"),
        "danger": True,
        "cancel_url": back,
    }
    return ask(request, context)


def _opened(actor: Person, pool: Pool, form: AccessForm) -> bool:
    """Whether the pool was opened; what is refused is put on the form."""
    if form.is_valid():
        try:
            services.pool_open(actor=actor, access=form.spec(pool.pk))
        except Invalid as refusal:
            add_errors(form, refusal)
        except (Conflict, Forbidden) as refusal:
            form.add_error(None, refusal.message)
        else:
            return True
    return False
