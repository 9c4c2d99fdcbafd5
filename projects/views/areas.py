"""The research areas."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.models import Role
from accounts.policies import has_role, require_signed_in
from kernel.errors import Invalid
from kernel.forms import add_errors
from projects import services
from projects.forms import AreaForm
from projects.models import ResearchArea


@require_http_methods(["GET", "POST"])
def areas(request: HttpRequest) -> HttpResponse:
    """The research areas; an admin adds one."""
    person = require_signed_in(request.user)
    form = AreaForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            area = services.area_create(actor=person, **form.cleaned_data)
        except Invalid as refusal:
            add_errors(form, refusal)
        else:
            messages.success(request, _("The research area %(name)s was added.") % {"name": area.title})
            return redirect("projects:areas")
    context = {
        "areas": ResearchArea.objects.select_related("parent").order_by("title"),
        "form": form,
        "may_add": has_role(person, Role.ADMIN),
    }
    return render(request, "projects/areas.html", context, status=422 if form.errors else 200)
