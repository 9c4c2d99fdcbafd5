"""Answers where no view answers: problem details for programs, pages for people. ``portal.urls`` names them."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django.views import defaults

from kernel.errors import Forbidden, Invalid, NotFound, PortalError
from kernel.problem import CONTENT_TYPE, problem


class BadRequest(PortalError):
    code = "bad_request"
    status = 400
    title = _("The request cannot be read")


def is_program(request: HttpRequest) -> bool:
    """Whether a program speaks: the API or a node's agent."""
    return request.path.startswith(("/api/", "/agent/"))


def refusal(error: PortalError) -> JsonResponse:
    """Problem details outside of a view."""
    return JsonResponse(problem(error), status=error.status, content_type=CONTENT_TYPE)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refusal(BadRequest()) if is_program(request) else defaults.bad_request(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refusal(Forbidden()) if is_program(request) else defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refusal(NotFound()) if is_program(request) else defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    return refusal(PortalError()) if is_program(request) else defaults.server_error(request)


def nul_refused(request: HttpRequest) -> HttpResponse:
    """For an address with a NUL character, which nobody types."""
    text = _now("NUL characters are not allowed.")
    if is_program(request):
        names = [name for name, values in request.GET.lists() if any("\0" in value for value in [name, *values])]
        return refusal(Invalid({name.replace("\0", "?"): text for name in names}) if names else NotFound())
    return HttpResponse(f"{text}\n", status=400, content_type="text/plain")
