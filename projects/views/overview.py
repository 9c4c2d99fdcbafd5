"""The registry's part of a project's page, alone."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from projects import selectors
from projects.views.frame import framed, opened

LATEST = 8


@require_GET
def overview(request: HttpRequest, project_id: int) -> HttpResponse:
    detail = opened(request, project_id)
    latest = selectors.history(detail.project)[::-1][:LATEST]
    return render(request, "projects/overview.html", {**framed(request, detail, "overview"), "items": latest})
