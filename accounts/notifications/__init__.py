"""Telling people: what rooms say (``topics``), to whom (``recipients``), how it is kept (``telling``), how it leaves.

A room registers its topics in ``AppConfig.ready`` and calls ``notify`` or ``notify_many`` in the transaction of the
act. Nothing leaves the house before that transaction has committed.
"""

from accounts.notifications.telling import Told, notify, notify_many, settle
from accounts.notifications.topics import Topic, Urgency, register

__all__ = ["Told", "Topic", "Urgency", "notify", "notify_many", "register", "settle"]
