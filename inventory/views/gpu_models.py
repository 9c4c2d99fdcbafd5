"""The catalogue of GPU models."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.models import Role
from accounts.policies import require_role, require_signed_in
from inventory import policies, selectors, services
from inventory.forms import GpuModelForm
from inventory.models import GpuModel
from kernel.errors import Invalid, NotFound
from kernel.forms import add_errors


@require_GET
def listing(request: HttpRequest) -> HttpResponse:
    """Every model with what the catalogue says of it, fastest first."""
    person = require_signed_in(request.user)
    context = {"rows": selectors.gpu_model_rows(), "may_change": policies.may_change(person)}
    return render(request, "inventory/gpu_models.html", context)


@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, model_id: str) -> HttpResponse:
    """Correct what the catalogue says of a model; its name stays."""
    actor = require_role(request.user, Role.ADMIN)
    model = GpuModel.objects.filter(pk=int(model_id)).first()
    if model is None:
        raise NotFound
    form = GpuModelForm(request.POST or None, initial={name: getattr(model, name) for name in GpuModelForm.base_fields})
    if form.is_valid():
        try:
            services.gpu_model_edit(actor=actor, gpu_model_id=model.pk, changes=form.cleaned_data)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("%(model)s was changed.") % {"model": form.cleaned_data["title"]})
            return redirect("inventory:gpu-models")
    title = _("GPU model %(model)s") % {"model": model.name}
    context = {"form": form, "title": title, "back": reverse("inventory:gpu-models"), "back_label": _("GPU models")}
    return render(request, "inventory/form.html", context, status=422 if form.errors else 200)
