"""People, their roles and tokens, and what they are told."""

from accounts.models.announcements import Announcement, AnnouncementKind, AnnouncementLevel
from accounts.models.people import Person, PersonManager, Role, RoleGrant, Scope, ServiceToken

__all__ = [
    "Announcement",
    "AnnouncementKind",
    "AnnouncementLevel",
    "Person",
    "PersonManager",
    "Role",
    "RoleGrant",
    "Scope",
    "ServiceToken",
]
