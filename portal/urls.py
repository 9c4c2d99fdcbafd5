"""All addresses. They answer with and without the last slash, without a redirect."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView

from portal import health
from portal.pages.urls import registry_patterns

handler400 = "kernel.fallback.bad_request"
handler403 = "kernel.fallback.forbidden"
handler404 = "kernel.fallback.not_found"
handler500 = "kernel.fallback.server_error"

urlpatterns = [
    re_path(r"^livez/?$", health.livez, name="livez"),
    re_path(r"^readyz/?$", health.readyz, name="readyz"),
    re_path(r"^metrics/?$", health.metrics, name="metrics"),
    re_path(r"^api/schema/?$", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/v1/", include("projects.api.urls")),
    path("agent/v1/", include("inventory.api.agent_urls")),
    path("agent/v1/", include("scheduling.api.agent_urls")),
    path("agent/v1/", include("monitoring.api.agent_urls")),
    path("api/v1/", include("accounts.api.urls")),
    path("api/v1/", include("approvals.api.urls")),
    path("api/v1/", include("inventory.api.urls")),
    path("api/v1/", include("quotas.api.urls")),
    path("api/v1/", include("scheduling.api.urls")),
    path("api/v1/", include("monitoring.api.urls")),
    path("api/v1/", include("portal.api.urls")),
    path("accounts/", include("accounts.sign_in_urls")),
    path("", include("accounts.urls")),
    path("", include("approvals.urls")),
    path("", include("inventory.urls")),
    path("", include("quotas.urls")),
    path("", include(registry_patterns)),
    path("", include("scheduling.urls")),
    path("", include("portal.pages.urls")),
]
