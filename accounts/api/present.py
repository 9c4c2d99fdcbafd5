"""Rows as plain data for the API."""

from typing import Any

from accounts.models import Person, ServiceToken
from kernel.models import AuditEntry


def person(row: Person) -> dict[str, Any]:
    """What everybody signed in may know."""
    return {"id": row.pk, "username": row.username, "display_name": row.display_name}


def person_in_full(row: Person) -> dict[str, Any]:
    """For admins and auditors; the row comes from ``selectors.with_roles``."""
    return {
        **person(row),
        "email": row.email,
        "is_active": row.is_active,
        "is_service": row.is_service,
        "language": row.language,
        "roles": [grant.role for grant in row.live_grants],  # type: ignore[attr-defined]
    }


def token(row: ServiceToken) -> dict[str, Any]:
    """Never the secret: it is not stored."""
    return {
        "id": row.pk,
        "name": row.name,
        "owner": row.owner.username,
        "prefix": row.prefix,
        "scopes": row.scopes,
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
        "last_used_at": row.last_used_at,
    }


def audit_entry(row: AuditEntry) -> dict[str, Any]:
    seal = getattr(row, "seal", None)
    return {
        **{
            name: getattr(row, name)
            for name in ("id", "at", "action", "subject_type", "subject_id", "actor_type", "actor_id", "actor_name")
        },
        **{name: getattr(row, name) for name in ("before", "after", "via", "address", "token")},
        "seal": {"position": seal.position, "hash": seal.hash} if seal else None,
    }
