"""Creating people and letting them in again. Nobody is ever deleted; how they go is ``services.offboarding``."""

from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from accounts.errors import AlreadySo
from accounts.models import Person, Role
from accounts.policies import require_role, require_signed_in
from accounts.services.admins import person_to_change
from kernel import audit, outbox
from kernel.errors import Invalid
from kernel.unit import unit_of_work

MAX_NAME = 200


def person_create(
    *,
    actor: Person | None,
    username: str,
    display_name: str,
    email: str = "",
    password: str | None = None,
    language: str = "",
) -> Person:
    """A person without any role. Without a password only single sign-on lets them in.

    An admin's act. Raises ``Invalid`` for a name that is taken (in any case of letters) or malformed, or for
    a password that is too weak.
    """
    with unit_of_work():
        if actor is not None:
            require_role(actor, Role.ADMIN)
        person = Person(
            username=username.strip(), display_name=display_name.strip(), email=email.strip(), language=language
        )
        _refuse_invalid(person, password)
        return _save_new(person, password, actor)


def service_account_create(*, actor: Person | None, username: str, display_name: str) -> Person:
    """An account for a program: no password, no single sign-on, only tokens that an admin issues."""
    with unit_of_work():
        if actor is not None:
            require_role(actor, Role.ADMIN)
        account = Person(username=username.strip(), display_name=display_name.strip(), is_service=True)
        _refuse_invalid(account, None)
        return _save_new(account, None, actor)


def person_reactivate(*, actor: Person | None, person_id: int) -> Person:
    """Lets the person sign in again, and nothing more: what the off-boarding ended stays ended. An admin's act.

    Roles that somebody deactivated before there was off-boarding still holds are held again.
    """
    with unit_of_work():
        person = person_to_change(actor, person_id)
        if person.is_active:
            raise AlreadySo(_("%(person)s is active already.") % {"person": person})
        person.is_active = True
        person.save(update_fields=["is_active"])
        audit.record(
            "person.reactivated",
            actor=actor,
            subject=person,
            before={"is_active": False},
            after={"is_active": True},
        )
        outbox.emit("person.reactivated", subject=person, data={"person_id": person.pk})
    return person


def password_change(*, actor: Person, old_password: str, new_password: str) -> Person:
    """A local account's own new password; all other sessions of this person end with the old one."""
    with unit_of_work():
        person = require_signed_in(actor)
        if not person.check_password(old_password):
            raise Invalid({"old_password": _("This is not your password.")})
        _refuse_weak(new_password, person, "new_password")
        person.set_password(new_password)
        person.save(update_fields=["password"])
        audit.record("person.password_changed", actor=actor, subject=person)
    return person


def _save_new(person: Person, password: str | None, actor: Person | None) -> Person:
    person.set_password(password)
    person.save(force_insert=True)
    after = {"username": person.username, "display_name": person.display_name, "is_service": person.is_service}
    audit.record("person.created", actor=actor, subject=person, after={**after, "email": person.email})
    return person


def _refuse_invalid(person: Person, password: str | None) -> None:
    """Everything that is wrong at once, by field."""
    errors: dict[str, list[str]] = {}
    checks = (
        ("username", UnicodeUsernameValidator(), person.username),
        ("email", validate_email, person.email),
    )
    for field, check, value in checks:
        if not value:
            continue
        try:
            check(value)
        except ValidationError as error:
            errors[field] = [str(message) for message in error.messages]
    if not 1 <= len(person.username) <= 150:
        errors["username"] = [_("A user name has 1 to 150 characters.")]
    elif Person.objects.filter(username__iexact=person.username).exists():
        errors["username"] = [_("“%(name)s” is taken.") % {"name": person.username}]
    if not 1 <= len(person.display_name) <= MAX_NAME or not person.display_name.isprintable():
        errors["display_name"] = [_("A name has 1 to %(most)s printable characters.") % {"most": MAX_NAME}]
    if not person.email:
        errors.pop("email", None)
    if errors:
        raise Invalid(errors)
    if password is not None:
        _refuse_weak(password, person, "password")


def _refuse_weak(password: str, person: Person, field: str) -> None:
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise Invalid({field: error.messages}) from error
