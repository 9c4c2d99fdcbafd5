"""What people and nodes do to the inventory."""

from inventory.services.enrolment import (
    EnrolmentSpec,
    enrolment_token_issue,
    enrolment_token_revoke,
    node_enrol,
    open_enrolment_tokens_revoke,
    require_protocol,
)
from inventory.services.pools import (
    PoolSpec,
    gpu_model_edit,
    move_capacity,
    pool_create,
    pool_edit,
)
from inventory.services.prices import PriceSpec, price_set
from inventory.services.reports import NodeReported, node_mark_silent, node_report

__all__ = [
    "EnrolmentSpec",
    "NodeReported",
    "PoolSpec",
    "PriceSpec",
    "enrolment_token_issue",
    "enrolment_token_revoke",
    "gpu_model_edit",
    "move_capacity",
    "node_enrol",
    "node_mark_silent",
    "node_report",
    "open_enrolment_tokens_revoke",
    "pool_create",
    "pool_edit",
    "price_set",
    "require_protocol",
]
