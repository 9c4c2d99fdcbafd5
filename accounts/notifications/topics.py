"""What may be told: topics with their sentences, and the groups in which people choose how they want to hear."""

import re
from dataclasses import dataclass, field
from enum import Enum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
Text = str | Promise


class Urgency(Enum):
    """Whether somebody waits for the reader (a mail at once), or it is good to know (the daily digest)."""

    BLOCKS = "blocks"
    NEWS = "news"


@dataclass(frozen=True, slots=True)
class Group:
    """Topics about which a person chooses together. ``help`` says what is told."""

    name: str
    label: Text
    help: Text


@dataclass(frozen=True, slots=True)
class Topic:
    """One kind of news. ``title`` and ``text`` are lazy, with ``%(name)s`` for each word.

    What a word's name ends in says how it is shown: ``_at`` is an instant (ISO 8601 with its offset), ``_on`` a day
    (ISO 8601), ``_seconds`` a length of time, ``_word`` a message of the catalogue; others are shown as they are.
    """

    name: str
    title: Text
    text: Text
    urgency: Urgency
    group: str
    placeholders: frozenset[str] = field(init=False, default=frozenset())

    def __post_init__(self) -> None:
        # The sources, not a translation: whatever language is active while the rooms are made ready.
        with override("en"):
            found = frozenset(_PLACEHOLDER.findall(f"{self.title} {self.text}"))
        object.__setattr__(self, "placeholders", found)

    @property
    def is_blocking(self) -> bool:
        return self.urgency is Urgency.BLOCKS


_GROUPS: dict[str, Group] = {
    group.name: group
    for group in (
        Group("approvals", _("Approvals"), _("What waits for your decision, and what became of what you asked for.")),
        Group("projects", _("Projects"), _("Your projects: their state, their members and their milestones.")),
        Group("quotas", _("Quotas"), _("Quotas of your projects: granted, changed, about to end, near their limit.")),
        Group("jobs", _("Jobs"), _("Your jobs: finished, failed, preempted, near their time limit.")),
        Group("inventory", _("Nodes and capacity"), _("Nodes that fail or need maintenance, and changes of capacity.")),
        Group("monitoring", _("Alerts"), _("Low use, stuck jobs, sick GPUs and silent agents.")),
        Group("reviews", _("Review rounds"), _("Priority reviews: what is asked of you, and what was published.")),
        Group("people", _("People and access"), _("Your roles, your tokens and your account.")),
    )
}
_TOPICS: dict[str, Topic] = {}


def register(topic: Topic) -> None:
    """Add a topic (in ``AppConfig.ready``). Raises ``LookupError`` for an unknown group."""
    if topic.group not in _GROUPS:
        raise LookupError(f"{topic.name}: no group {topic.group}; known: {', '.join(_GROUPS)}")
    _TOPICS[topic.name] = topic


def topic_named(name: str) -> Topic:
    """Raises ``LookupError``: a topic that nobody registered is an error of the program."""
    try:
        return _TOPICS[name]
    except KeyError:
        raise LookupError(f"no topic {name} is registered") from None


def known_topic(name: str) -> Topic | None:
    """The topic of a row that is read; none where the portal no longer knows it."""
    return _TOPICS.get(name)


def groups() -> list[Group]:
    """Every group, in the order of the preferences page."""
    return list(_GROUPS.values())
