"""How history, audit and outbox name what an act was about and who did it, without foreign keys upward."""

from typing import Any

from django.db.models import Model

Actor = Model | None
"""A person, a node, or None for the portal itself."""


def subject_fields(row: Model) -> dict[str, Any]:
    """``subject_type`` is the model's label (``projects.project``), ``subject_id`` its primary key as text."""
    return {"subject_type": row._meta.label_lower, "subject_id": str(row.pk)}


def actor_fields(actor: Actor) -> dict[str, Any]:
    """Kind, id and the name of the actor as it was then; rows of people are never deleted, names change."""
    if actor is None:
        return {"actor_type": "portal", "actor_id": "", "actor_name": "portal"}
    return {"actor_type": actor._meta.label_lower, "actor_id": str(actor.pk), "actor_name": str(actor)[:200]}
