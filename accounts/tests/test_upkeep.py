"""What signing in leaves behind does not grow for ever, and ends nobody's session."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib.sessions.models import Session
from django.test import Client

from accounts import tasks
from accounts.services.upkeep import KEPT
from accounts.tests.factories import PASSWORD, person
from kernel import clock

LOGIN = "/accounts/login/"


@pytest.mark.django_db
def test_old_notes_and_ended_sessions_go_and_live_ones_stay() -> None:
    person("ada", password=PASSWORD)
    client = Client()
    client.post(LOGIN, {"username": "ada", "password": "wrong"})
    assert AccessAttempt.objects.count() == 1
    client.post(LOGIN, {"username": "ada", "password": PASSWORD})
    Client().post(LOGIN, {"username": "ada", "password": "wrong"})
    ended = Session.objects.create(session_key="ended", session_data="", expire_date=clock.now() - timedelta(hours=1))
    tasks.forget_sign_ins()
    assert not Session.objects.filter(pk=ended.pk).exists()
    assert client.get("/tokens/").status_code == 200
    assert (AccessAttempt.objects.count(), AccessLog.objects.count()) == (1, 1)
    with clock.frozen(clock.now() + KEPT + timedelta(minutes=1)):
        tasks.forget_sign_ins()
    assert (AccessAttempt.objects.count(), AccessLog.objects.count()) == (0, 0)
