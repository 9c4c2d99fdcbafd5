"""People, their roles and tokens, and what they are told."""

from accounts.models.announcements import Announcement, AnnouncementKind, AnnouncementLevel
from accounts.models.notifications import (
    Channel,
    DeliveryOutcome,
    MailChoice,
    Notification,
    NotificationDelivery,
    NotificationPreference,
)
from accounts.models.offboarding import Offboarding
from accounts.models.people import Person, PersonManager, Role, RoleGrant, Scope, ServiceToken

__all__ = [
    "Announcement",
    "AnnouncementKind",
    "AnnouncementLevel",
    "Channel",
    "DeliveryOutcome",
    "MailChoice",
    "Notification",
    "NotificationDelivery",
    "NotificationPreference",
    "Offboarding",
    "Person",
    "PersonManager",
    "Role",
    "RoleGrant",
    "Scope",
    "ServiceToken",
]
