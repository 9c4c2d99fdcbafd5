"""From topic and words to sentences, in the language that is active: pages, mails and the chat read the same ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.utils import translation

from accounts.models import Notification
from accounts.notifications.topics import Topic, known_topic, topic_named
from kernel import formats
from kernel.calendar import organisation_zone
from kernel.documents import one_line

NOTHING = "–"


class WordMissing(Exception):
    """A sentence asks for a word that the notification lacks."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Plain text. The title is one line of printable characters, whatever people have named their things."""

    title: str
    text: str


def wording(row: Notification) -> Wording:
    """For the inbox: what an older version of the portal did not say is a dash, not an error."""
    topic = known_topic(row.topic)
    return _wording(topic, _Lenient(_shown(row.words))) if topic else Wording(row.topic, "")


def strict_wording(row: Notification) -> Wording:
    """For what leaves the house: raises ``WordMissing`` or ``LookupError`` rather than leaving a hole."""
    return _wording(topic_named(row.topic), _Strict(_shown(row.words)))


def _wording(topic: Topic, words: dict[str, str]) -> Wording:
    title = str(topic.title) % words
    return Wording(one_line(" ".join(title.split())), (str(topic.text) % words).strip())


class _Lenient(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return NOTHING


class _Strict(dict[str, str]):
    def __missing__(self, key: str) -> str:
        raise WordMissing(key)


def _shown(words: Mapping[str, Any]) -> dict[str, str]:
    return {name: _word(name, value) for name, value in words.items()}


def _word(name: str, value: Any) -> str:
    """What a word's name ends in says how it is shown (``topics.Topic``)."""
    if value is None:
        return NOTHING
    if value == "":
        # Nothing was said: the sentence ends before it.
        return ""
    if isinstance(value, list):
        return ", ".join(_word(name, part) for part in value)
    if name.endswith("_at"):
        return formats.said_instant(datetime.fromisoformat(value), organisation_zone())
    if name.endswith("_on"):
        return formats.day(date.fromisoformat(value))
    if name.endswith("_seconds"):
        return formats.duration(float(value))
    # A message that stands elsewhere in the code, such as the label of a choice, and so in the catalogue.
    return translation.gettext(str(value)) if name.endswith("_word") else str(value)
