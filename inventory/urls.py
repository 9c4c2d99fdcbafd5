"""Pages of this room."""

from django.urls import re_path

from inventory.views import gpu_models, nodes, pools

app_name = "inventory"

NODE = r"^nodes/(?P<node_id>[0-9]{1,18})"
POOL = r"^pools/(?P<pool_id>[0-9]{1,18})"

urlpatterns = [
    re_path(r"^nodes/?$", nodes.listing, name="nodes"),
    re_path(r"^nodes/enrol/?$", nodes.Enrol.as_view(), name="enrol"),
    re_path(r"^nodes/enrol/(?P<token_id>[0-9]{1,18})/revoke/?$", nodes.revoke_token, name="token-revoke"),
    re_path(NODE + r"/?$", nodes.detail, name="node"),
    re_path(NODE + r"/price/?$", nodes.price, name="price"),
    re_path(r"^gpu-models/?$", gpu_models.listing, name="gpu-models"),
    re_path(r"^gpu-models/(?P<model_id>[0-9]{1,18})/edit/?$", gpu_models.edit, name="gpu-model-edit"),
    re_path(r"^pools/?$", pools.listing, name="pools"),
    re_path(r"^pools/new/?$", pools.new, name="pool-new"),
    re_path(POOL + r"/edit/?$", pools.edit, name="pool-edit"),
]
