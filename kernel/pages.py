"""The pages' renderer of errors, how answers are kept, and the origin of every act that comes by HTTP."""

from collections.abc import Callable

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from kernel.errors import PortalError, Unauthenticated
from kernel.fallback import nul_refused
from kernel.origin import Origin, origin
from kernel.toasts import announce

GetResponse = Callable[[HttpRequest], HttpResponse]


class OriginMiddleware:
    """Says to the audit log from where a request came. Behind a proxy, the server sets the address."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        via = "api" if request.path.startswith("/api/") else "agent" if is_agent(request) else "browser"
        with origin(Origin(via, request.META.get("REMOTE_ADDR", ""))):
            return self.get_response(request)


class NulMiddleware:
    """Refuses an address with a NUL character: PostgreSQL has no text for it, and nobody types one."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return nul_refused(request)
        return self.get_response(request)


class OwnAnswerMiddleware:
    """Says that an answer is one person's, and that a part and the page around it are not the same.

    Many addresses give htmx a part of what they give the browser: one that kept the part would show it alone when
    somebody comes back to the page. Answers that say themselves how they are kept are left as they are.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        patch_vary_headers(answer, ["HX-Request"])
        if not answer.has_header("Cache-Control"):
            answer["Cache-Control"] = "private, no-cache"
        return answer


class ErrorPageMiddleware:
    """Shows a refusal as a page with its status; who is not signed in is asked to.

    htmx exchanges nothing on a refusal, so there its sentence stands in a toast.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, Unauthenticated):
            return redirect_to_login(request.get_full_path())
        if isinstance(error, PortalError):
            template = "404.html" if error.status == 404 else "403.html" if error.status == 403 else "error.html"
            answer = render(request, template, {"error": error}, status=error.status)
            if request.headers.get("HX-Request") and error.message != str(error.title):
                announce(answer, f"{error.message} {_('Nothing was changed.')}", "error")
            return answer
        return None


def is_agent(request: HttpRequest) -> bool:
    """Whether a node speaks, not a person."""
    return request.path.startswith("/agent/")
