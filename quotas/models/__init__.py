"""The ledger's claims, who may use a dedicated pool, what projects ask for, and how near their limits they are."""

from quotas.models.access import PoolAccess
from quotas.models.claims import Claim, ClaimKind, Resource
from quotas.models.crossings import LimitCrossing
from quotas.models.requests import QuotaRequest, RequestAttachment

__all__ = ["Claim", "ClaimKind", "LimitCrossing", "PoolAccess", "QuotaRequest", "RequestAttachment", "Resource"]
