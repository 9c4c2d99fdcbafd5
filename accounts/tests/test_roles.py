"""Roles are granted and revoked by another admin, and one admin always remains."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from accounts import policies
from accounts.errors import AlreadySo, LastAdmin, OwnAccount
from accounts.models import Person, Role, RoleGrant
from accounts.services import person_reactivate, role_grant, role_revoke
from accounts.tests.factories import admin, auditor, deactivated, director, off_board, person, service_account
from kernel.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated
from kernel.models import AuditEntry

pytestmark = pytest.mark.django_db


def fresh(someone: Person) -> Person:
    return Person.objects.get(pk=someone.pk)


def test_a_granted_role_is_held_until_it_is_revoked() -> None:
    chief, ada = admin(), person("ada")
    role_grant(actor=chief, person_id=ada.pk, role=Role.DIRECTOR)
    assert policies.organisation_roles(fresh(ada)) == {Role.DIRECTOR}
    role_revoke(actor=chief, person_id=ada.pk, role=Role.DIRECTOR)
    assert policies.organisation_roles(fresh(ada)) == frozenset()
    grant = RoleGrant.objects.get(person=ada)
    assert (grant.granted_by, grant.revoked_at is None) == (chief, False)


def test_roles_are_read_once_per_request(django_assert_num_queries: object) -> None:
    ada = director()
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert policies.has_role(ada, Role.DIRECTOR)
        assert not policies.has_role(ada, Role.ADMIN, Role.AUDITOR)


def test_every_change_of_roles_is_in_the_audit_log() -> None:
    chief, ada = admin(), person("ada")
    role_grant(actor=chief, person_id=ada.pk, role=Role.AUDITOR)
    role_revoke(actor=chief, person_id=ada.pk, role=Role.AUDITOR)
    entries = AuditEntry.objects.filter(subject_id=str(ada.pk), action__startswith="role.").order_by("id")
    assert [(e.action, e.actor_id, e.before, e.after) for e in entries] == [
        ("role.granted", str(chief.pk), None, {"role": "auditor"}),
        ("role.revoked", str(chief.pk), {"role": "auditor"}, None),
    ]


@pytest.mark.parametrize("act", [role_grant, role_revoke])
def test_nobody_changes_own_roles(act: object) -> None:
    chief, _other = admin(), admin()
    with pytest.raises(OwnAccount):
        act(actor=chief, person_id=chief.pk, role=Role.ADMIN)  # type: ignore[operator]


@pytest.mark.parametrize("who", [person, director, auditor])
def test_only_an_admin_grants(who: object) -> None:
    somebody, ada = who(), person("ada")  # type: ignore[operator]
    with pytest.raises(Forbidden):
        role_grant(actor=somebody, person_id=ada.pk, role=Role.AUDITOR)
    assert not RoleGrant.objects.filter(person=ada).exists()


def test_a_deactivated_admin_holds_no_role_and_grants_nothing() -> None:
    admin()
    former, ada = deactivated("former", Role.ADMIN), person("ada")
    assert policies.organisation_roles(former) == frozenset()
    with pytest.raises(Unauthenticated):
        role_grant(actor=former, person_id=ada.pk, role=Role.AUDITOR)


def test_an_object_read_before_the_deactivation_has_no_role_after_it() -> None:
    chief, stale = admin(), admin()
    off_board(stale, actor=chief)
    assert stale.is_active
    assert policies.organisation_roles(stale) == frozenset()


def test_the_last_admin_is_neither_revoked_nor_deactivated() -> None:
    last = admin()
    deactivated("former", Role.ADMIN)
    with pytest.raises(LastAdmin):
        role_revoke(actor=None, person_id=last.pk, role=Role.ADMIN)
    with pytest.raises(LastAdmin):
        off_board(last)
    assert policies.has_role(fresh(last), Role.ADMIN)


def test_one_of_two_admins_may_go() -> None:
    chief, other = admin(), admin()
    role_revoke(actor=chief, person_id=other.pk, role=Role.ADMIN)
    assert not policies.has_role(fresh(other), Role.ADMIN)


def test_the_second_click_is_refused() -> None:
    chief, ada = admin(), person("ada")
    role_grant(actor=chief, person_id=ada.pk, role=Role.DIRECTOR)
    with pytest.raises(AlreadySo):
        role_grant(actor=chief, person_id=ada.pk, role=Role.DIRECTOR)
    role_revoke(actor=chief, person_id=ada.pk, role=Role.DIRECTOR)
    with pytest.raises(AlreadySo):
        role_revoke(actor=chief, person_id=ada.pk, role=Role.DIRECTOR)


def test_unknown_roles_and_people_are_refused() -> None:
    chief, ada = admin(), person("ada")
    with pytest.raises(Invalid, match="emperor"):
        role_grant(actor=chief, person_id=ada.pk, role="emperor")
    with pytest.raises(NotFound):
        role_grant(actor=chief, person_id=ada.pk + 1000, role=Role.ADMIN)


def test_a_deactivated_person_gets_no_role() -> None:
    with pytest.raises(Conflict):
        role_grant(actor=admin(), person_id=deactivated("former").pk, role=Role.AUDITOR)


@pytest.mark.parametrize("role", [Role.ADMIN, Role.DIRECTOR])
def test_a_program_never_decides(role: Role) -> None:
    with pytest.raises(Conflict):
        role_grant(actor=admin(), person_id=service_account().pk, role=role)


def test_roles_end_with_the_account_and_do_not_return_with_it() -> None:
    """Power that comes back by itself a year later is power that nobody granted."""
    chief, ada = admin(), director("ada")
    off_board(ada, actor=chief)
    assert not policies.has_role(fresh(ada), Role.DIRECTOR)
    person_reactivate(actor=chief, person_id=ada.pk)
    assert not policies.has_role(fresh(ada), Role.DIRECTOR)
    assert not RoleGrant.objects.filter(person=ada, revoked_at__isnull=True).exists()


@pytest.mark.django_db(transaction=True)
def test_two_admins_cannot_remove_each_other_at_once() -> None:
    """With two connections: whoever comes second is refused, and one admin remains."""
    first, second = admin(), admin()
    start = Barrier(2, timeout=20)

    def remove(actor: Person, other: Person) -> bool:
        try:
            start.wait()
            role_revoke(actor=actor, person_id=other.pk, role=Role.ADMIN)
        except (LastAdmin, Forbidden):
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        tries = [pool.submit(remove, first, second), pool.submit(remove, second, first)]
        outcomes = [done.result(20) for done in tries]
    assert outcomes.count(True) == 1
    assert RoleGrant.objects.filter(role=Role.ADMIN, revoked_at__isnull=True).count() == 1
