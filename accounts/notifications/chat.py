"""The organisation's chat: one webhook that takes ``{"text": …}``, as Slack, Mattermost, Teams gateways and Zulip do.

Its address is a secret, so no error that is kept or logged names it.
"""

import requests
from django.conf import settings
from django.utils.translation import override

from accounts.models import Notification
from accounts.notifications.mail import absolute
from accounts.notifications.wording import strict_wording

TIMEOUT_S = (5, 10)
MAX_ANSWER = 200


class ChatRefused(Exception):
    """The chat did not take it; says why, without the address."""


class ChatAway(ChatRefused):
    """Nobody answered."""


def post(row: Notification) -> None:
    """Say it in the chat, in the organisation's language. Raises ``ChatRefused``."""
    try:
        answer = requests.post(
            settings.CHAT_WEBHOOK, json={"text": text(row)}, timeout=TIMEOUT_S, allow_redirects=False
        )
    except requests.RequestException as error:
        raise ChatAway(type(error).__name__) from None
    if answer.status_code >= 300:
        raise ChatRefused(f"HTTP {answer.status_code}: {answer.text[:MAX_ANSWER]}")


def text(row: Notification) -> str:
    """Title, text and address."""
    with override(settings.LANGUAGE_CODE):
        said = strict_wording(row)
    lines = [plain(said.title), plain(said.text)]
    return "\n".join([*(line for line in lines if line), absolute(row.url)] if row.url else lines)


def plain(words: str) -> str:
    """Without a meaning of its own: no link, no mention of everybody, whatever people have named their things."""
    escaped = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("@", "@\u200b")
