"""``/livez``, ``/readyz``, ``/metrics``: for load balancers, the supervisor and Prometheus."""

from importlib.metadata import version

from django import get_version
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, Info, generate_latest

from kernel import health
from portal import __version__

BUILD = Info("sluice_build", "Version of Sluice and of what it stands on")
BUILD.info({"version": __version__, "django": get_version(), "celery": version("celery")})


@never_cache
@require_safe
def livez(_request: HttpRequest) -> HttpResponse:
    """200 while the process lives. Touches nothing else."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """Every registered check by name; 503 if one of them fails."""
    answers = {name: check() for name, check in health.registered().items()}
    body = {name: {"ok": answer.ok, "detail": answer.detail} for name, answer in answers.items()}
    is_ready = all(answer.ok for answer in answers.values())
    return JsonResponse({"ready": is_ready, **body}, status=200 if is_ready else 503)


@never_cache
@require_safe
def metrics(_request: HttpRequest) -> HttpResponse:
    """All metrics of the default registry in Prometheus' text format."""
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)
