"""Pages of this room."""

from django.urls import re_path

from quotas.views import access, capacity, quotas

app_name = "quotas"

NODE = r"^nodes/(?P<node_id>[0-9]{1,18})"
POOL = r"^pools/(?P<pool_id>[0-9]{1,18})"

urlpatterns = [
    re_path(r"^quotas/?$", quotas.listing, name="list"),
    re_path(r"^quotas/grant/?$", quotas.Grant.as_view(), name="grant"),
    re_path(r"^quotas/grant/preview/?$", quotas.preview, name="preview"),
    re_path(r"^quotas/claims/(?P<claim_id>[0-9]{1,18})/end/?$", quotas.end, name="end"),
    re_path(r"^quotas/reserve/(?P<model_id>[0-9]{1,18})/?$", capacity.reserve, name="reserve"),
    re_path(r"^projects/(?P<project_id>[0-9]{1,18})/quota/?$", quotas.project_story, name="project"),
    re_path(NODE + r"/capacity/?$", capacity.capacity, name="capacity"),
    re_path(NODE + r"/pool/?$", capacity.node_pool, name="node-pool"),
    re_path(POOL + r"/access/?$", access.access, name="pool-access"),
    re_path(POOL + r"/access/(?P<access_id>[0-9]{1,18})/end/?$", access.end, name="pool-access-end"),
    re_path(POOL + r"/dedicate/?$", capacity.dedicate, name="pool-dedicate"),
    re_path(POOL + r"/share/?$", capacity.release, name="pool-release"),
]
