"""What people do to the ledger."""

from quotas.services.access import AccessSpec, pool_close, pool_open
from quotas.services.attachments import attachment_add, attachment_remove
from quotas.services.capacity import (
    capacity_change,
    capacity_locks,
    capacity_remove,
    capacity_take_out,
    reserve_set,
)
from quotas.services.grants import AreaGrantSpec, GrantSpec, area_grant, claim_end, project_claims_end, quota_grant
from quotas.services.pools import node_move, pool_cover, pool_dedicate, pool_release
from quotas.services.requests import (
    RequestFacts,
    request_clone,
    request_create,
    request_discard,
    request_edit,
    request_withdraw,
    request_withdraw_by_portal,
)
from quotas.services.sending import RequestSending, request_send_edit, request_send_new, request_sent_before
from quotas.services.submitting import request_submit

__all__ = [
    "AccessSpec",
    "AreaGrantSpec",
    "GrantSpec",
    "RequestFacts",
    "RequestSending",
    "area_grant",
    "attachment_add",
    "attachment_remove",
    "capacity_change",
    "capacity_locks",
    "capacity_remove",
    "capacity_take_out",
    "claim_end",
    "node_move",
    "pool_close",
    "pool_cover",
    "pool_dedicate",
    "pool_open",
    "pool_release",
    "project_claims_end",
    "quota_grant",
    "request_clone",
    "request_create",
    "request_discard",
    "request_edit",
    "request_send_edit",
    "request_send_new",
    "request_sent_before",
    "request_submit",
    "request_withdraw",
    "request_withdraw_by_portal",
    "reserve_set",
]
