"""Pages of this room. The table (``projects:list``), the page of one project (``project``) and the way to the
decision on one (``projects:decide``) are the portal's, composed of several rooms."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, re_path

from projects.imports import views as importing
from projects.views import areas, deciding, drafting, milestones, suitability, team

app_name = "projects"

PROJECT = r"^projects/(?P<project_id>[0-9]{1,18})"
IMPORT = r"^projects/import/(?P<import_id>[0-9]{1,18})"
AREA = r"^projects/areas/(?P<area_id>[0-9]{1,18})"
MILESTONE = PROJECT + r"/milestones/(?P<milestone_id>[0-9]{1,18})"


def page(address: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    """An address that answers with and without the last slash, whose ids reach the view as numbers."""

    @wraps(view)
    def with_numbers(request: HttpRequest, **given: Any) -> HttpResponseBase:
        return view(request, **{key: int(raw) if key.endswith("_id") else raw for key, raw in given.items()})

    return re_path(address + r"/?$", with_numbers, name=name)


urlpatterns = [
    page(r"^projects/new", drafting.Create.as_view(), "new"),
    page(r"^projects/areas/new", areas.new, "area-new"),
    page(AREA + r"/edit", areas.edit, "area-edit"),
    page(AREA + r"/delete", areas.delete, "area-delete"),
    page(r"^projects/import", importing.Start.as_view(), "import"),
    page(r"^projects/import/template/(?P<form>csv|xlsx)", importing.template, "import-template"),
    page(r"^projects/import/editing/(?P<form>csv|xlsx)", importing.editing, "import-editing"),
    page(IMPORT, importing.show, "import-report"),
    page(IMPORT + r"/report", importing.download, "import-download"),
    page(IMPORT + r"/check", importing.check_again, "import-check"),
    page(IMPORT + r"/apply", importing.apply, "import-apply"),
    page(IMPORT + r"/discard", importing.discard, "import-discard"),
    page(IMPORT + r"/undo", importing.undo, "import-undo"),
    page(PROJECT + r"/edit", drafting.Edit.as_view(), "edit"),
    page(PROJECT + r"/tier", deciding.tier, "tier"),
    page(PROJECT + r"/members", team.Members.as_view(), "members"),
    page(PROJECT + r"/members/(?P<person_id>[0-9]{1,18})/role", team.change_role, "member-role"),
    page(PROJECT + r"/members/(?P<person_id>[0-9]{1,18})/remove", team.remove, "member-remove"),
    page(PROJECT + r"/milestones", milestones.listing, "milestones"),
    page(MILESTONE + r"/(?P<act>met|reopen|move)", milestones.act, "milestone"),
    page(PROJECT + r"/suitability", suitability.Suitability.as_view(), "suitability"),
    page(
        PROJECT + r"/suitability/(?P<measurement_id>[0-9]{1,18})/(?P<event>confirm|reject|withdraw|revoke)",
        suitability.judge,
        "measurement",
    ),
    page(PROJECT + r"/history", team.history, "history"),
    page(PROJECT + r"/(?P<event>withdraw|suspend|resume|close)", deciding.step, "step"),
]
