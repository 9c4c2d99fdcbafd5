"""A worker that is killed with a mail in its hands: the claim runs out, and another sends it."""

import os
import subprocess
import sys
from threading import Event
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from pytest_django import Settings

from accounts.models import Channel, DeliveryOutcome, MailChoice, NotificationDelivery, NotificationPreference
from accounts.notifications import sending
from accounts.services import person_create
from accounts.tests.mail_server import MailServer, mail_server
from accounts.tests.told import told
from kernel import clock

WAIT_S = 60
WORKER = """
import django
django.setup()
from django.conf import settings
settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", {port}
from accounts.notifications import sending
sending.deliver_due()
"""


class SlowServer(MailServer):
    """Says when a mail has begun to arrive, and takes none until it may."""

    def __init__(self) -> None:
        super().__init__()
        self.has_begun = Event()
        self.refuses_all = True

    async def handle_MAIL(  # noqa: N802 - the name of the protocol's command
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        self.has_begun.set()
        if self.refuses_all:
            await server.loop.create_future()
        return "250 OK"


def worker(port: int) -> subprocess.Popen[bytes]:
    """A process of its own on the database of this test."""
    at = connection.settings_dict
    url = f"postgres://{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{at['PORT']}/{at['NAME']}"
    environment = {**os.environ, "SLUICE_DATABASE_URL": url}
    code = WORKER.format(port=port)
    return subprocess.Popen([sys.executable, "-c", code], env=environment, cwd=django_settings.BASE_DIR)


@pytest.mark.fault
@pytest.mark.django_db(transaction=True)
def test_what_a_killed_worker_held_is_sent_by_another(settings: Settings) -> None:
    kim = person_create(actor=None, username="kim", display_name="Kim", email="kim@example.org")
    NotificationPreference.objects.create(person=kim, group="people", mail=MailChoice.AT_ONCE)
    told(kim)
    post = SlowServer()
    with mail_server(post):
        process = worker(post.port)
        try:
            assert post.has_begun.wait(WAIT_S), "the worker never spoke to the mail server"
        finally:
            process.kill()
            process.wait(WAIT_S)
        post.refuses_all = False
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", post.port
        held = NotificationDelivery.objects.get(channel=Channel.MAIL)
        assert (held.outcome, held.tries) == (DeliveryOutcome.DUE, 1)
        assert held.claimed_until is not None
        assert held.claimed_until > clock.database_now()
        assert sending.deliver_due() == 0, "not while the claim holds"
        NotificationDelivery.objects.update(claimed_until=clock.database_now())
        assert sending.deliver_due() == 1
    assert post.addresses == ["kim@example.org"]
    assert NotificationDelivery.objects.get().outcome == DeliveryOutcome.SENT
