"""The ledger's claims, who may use a dedicated pool, and what projects ask for."""

from quotas.models.access import PoolAccess
from quotas.models.claims import Claim, ClaimKind, Resource
from quotas.models.requests import QuotaRequest, RequestAttachment

__all__ = ["Claim", "ClaimKind", "PoolAccess", "QuotaRequest", "RequestAttachment", "Resource"]
