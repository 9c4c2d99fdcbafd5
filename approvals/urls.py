"""Pages of this room. The decision page itself is composed by the portal: every kind shows its own there."""

from django.urls import re_path

from approvals.views import bulk, decided, delegations, policies, queue

app_name = "approvals"

DELEGATION = r"^approvals/delegations/(?P<delegation_id>[0-9]{1,18})"
KIND = r"^approvals/policies/(?P<kind>[a-z][a-z0-9_.-]{0,39})"

urlpatterns = [
    re_path(r"^approvals/?$", queue.waiting, name="list"),
    re_path(r"^approvals/others/?$", queue.others, name="others"),
    re_path(r"^approvals/decided/?$", decided.listing, name="decided"),
    re_path(r"^approvals/bulk/(?P<answer>approve|reject|return|comment)/?$", bulk.Bulk.as_view(), name="bulk"),
    re_path(r"^approvals/delegations/?$", delegations.Delegations.as_view(), name="delegations"),
    re_path(DELEGATION + r"/end/?$", delegations.end, name="delegation-end"),
    re_path(r"^approvals/policies/?$", policies.listing, name="policies"),
    re_path(KIND + r"/?$", policies.Policy.as_view(), name="policy"),
    re_path(KIND + r"/review/?$", policies.review, name="policy-review"),
]
