"""What people do to people, roles and tokens. One function per intention.

``actor=None`` is the portal itself: the command line of whoever runs the server, or a sign-in by the
organisation's identity provider. A page or an API call always passes its person.
"""

from accounts.services.announcements import (
    AnnouncementSpec,
    announcement_edit,
    announcement_publish,
    announcement_withdraw,
)
from accounts.services.languages import language_choose
from accounts.services.offboarding import Farewell, person_offboard
from accounts.services.people import (
    password_change,
    person_create,
    person_reactivate,
    service_account_create,
)
from accounts.services.roles import role_grant, role_revoke
from accounts.services.tokens import Issued, TokenTerms, token_issue, token_revoke
from accounts.services.upkeep import sign_ins_forget

__all__ = [
    "AnnouncementSpec",
    "Farewell",
    "Issued",
    "TokenTerms",
    "announcement_edit",
    "announcement_publish",
    "announcement_withdraw",
    "language_choose",
    "password_change",
    "person_create",
    "person_offboard",
    "person_reactivate",
    "role_grant",
    "role_revoke",
    "service_account_create",
    "sign_ins_forget",
    "token_issue",
    "token_revoke",
]
