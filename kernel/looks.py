"""How states, tiers and GPU models look: an icon, a word and a tone, the same on every screen.

Tones are classes (``tone-ok`` and so on). Nothing is said by colour alone: each look has an icon and a word.
"""

import re
import zlib
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


@dataclass(frozen=True)
class Look:
    """`tone`: ok, waiting, bad, paused, none (finished or not begun) or unknown."""

    icon: str
    word: str | Promise
    tone: str


_STATES: dict[str, Look] = {
    # Projects
    "draft": Look("draft", _("Draft"), "none"),
    "submitted": Look("waiting", _("Submitted"), "waiting"),
    "active": Look("ok", _("Active"), "ok"),
    "at_limit": Look("at-limit", _("At limit"), "waiting"),
    "low_use": Look("low-use", _("Low use"), "waiting"),
    "rejected": Look("failed", _("Rejected"), "bad"),
    "suspended": Look("paused", _("Suspended"), "paused"),
    "closed": Look("closed", _("Closed"), "none"),
    # Jobs
    "queued": Look("waiting", _("Waiting"), "waiting"),
    "starting": Look("starting", _("Starting"), "waiting"),
    "running": Look("running", _("Running"), "ok"),
    "pausing": Look("paused", _("Pausing"), "paused"),
    "paused": Look("paused", _("Paused"), "paused"),
    "stopping": Look("stopping", _("Stopping"), "waiting"),
    "succeeded": Look("ok", _("Succeeded"), "ok"),
    "failed": Look("failed", _("Failed"), "bad"),
    "cancelled": Look("closed", _("Cancelled"), "none"),
    "timed_out": Look("failed", _("Timed out"), "bad"),
    # Attempts and their causes
    "assigned": Look("waiting", _("Assigned"), "waiting"),
    "ended": Look("closed", _("Ended"), "none"),
    "unknown": Look("unknown", _("Unknown"), "unknown"),
    "finished": Look("ok", _("Finished"), "ok"),
    "user": Look("stop", _("Stopped by a person"), "none"),
    "timeout": Look("failed", _("Reached its max runtime"), "bad"),
    "preempted": Look("preempted", _("Preempted"), "paused"),
    "node_lost": Look("node-lost", _("Node lost"), "bad"),
    "hardware": Look("failed", _("Hardware fault"), "bad"),
    "launch_failed": Look("failed", _("Launch failed"), "bad"),
    # Nodes and devices
    "up": Look("ok", pgettext_lazy("node state", "Up"), "ok"),
    "draining": Look("draining", _("Draining"), "paused"),
    "down": Look("node-lost", pgettext_lazy("node state", "Down"), "bad"),
    "suspect": Look("alert", _("Suspect"), "waiting"),
    "maintenance": Look("maintenance", _("Maintenance"), "paused"),
    "removed": Look("closed", _("Removed"), "none"),
    "ok": Look("ok", pgettext_lazy("device state", "Works"), "ok"),
    "lost": Look("node-lost", _("Lost"), "bad"),
    "retired": Look("closed", _("Retired"), "none"),
    # Imports and their rows
    "uploaded": Look("waiting", _("Uploaded"), "waiting"),
    "checking": Look("starting", _("Checking"), "waiting"),
    "checked": Look("check", _("Checked"), "none"),
    "applying": Look("starting", _("Importing"), "waiting"),
    "applied": Look("ok", _("Imported"), "ok"),
    "discarded": Look("closed", _("Discarded"), "none"),
    "undoing": Look("stopping", _("Discarding"), "waiting"),
    "undone": Look("closed", _("Taken back"), "none"),
    "new": Look("plus", _("New"), "ok"),
    "changed": Look("edit", _("Changed"), "waiting"),
    "unchanged": Look("open", _("Unchanged"), "none"),
    "refused": Look("failed", _("Refused"), "bad"),
    # Requests, approvals and checks
    "proposed": Look("waiting", _("Proposed"), "waiting"),
    "confirmed": Look("ok", _("Confirmed"), "ok"),
    "superseded": Look("closed", _("Superseded"), "none"),
    "approved": Look("ok", _("Approved"), "ok"),
    "returned": Look("comment", _("Returned"), "waiting"),
    "withdrawn": Look("closed", _("Withdrawn"), "none"),
    "expired": Look("closed", _("Expired"), "none"),
    "pass": Look("ok", _("Pass"), "ok"),
    "warning": Look("alert", _("Warning"), "waiting"),
    "block": Look("failed", _("Blocks"), "bad"),
    # People and tokens
    "deactivated": Look("closed", _("Deactivated"), "none"),
    "revoked": Look("closed", _("Revoked"), "none"),
    # Announcements
    "now": Look("announcement", pgettext_lazy("announcement", "Shown now"), "ok"),
    "over": Look("closed", pgettext_lazy("announcement", "Over"), "none"),
    # Deliveries of notifications
    "sent": Look("ok", _("Sent"), "ok"),
    "dropped": Look("closed", _("Not sent"), "none"),
    # Milestones
    "planned": Look("open", _("Planned"), "none"),
    "met": Look("ok", _("Met"), "ok"),
    "slipped": Look("calendar-late", _("Slipped"), "bad"),
    "due": Look("open", _("Due"), "none"),
    "overdue": Look("calendar-late", _("Overdue"), "bad"),
}

_TIERS = {
    "high": (3, pgettext_lazy("tier", "High"), _("High tier")),
    "mid": (2, pgettext_lazy("tier", "Mid"), _("Mid tier")),
    "low": (1, pgettext_lazy("tier", "Low"), _("Low tier")),
}

# A hue each for what a GPU cluster is likely to have today; the rest share six more, always in the same way.
_OWN_HUES = frozenset(
    ["h200", "h100", "a100", "l40s", "h800", "a800", "h20", "b200", "b300", "gb200", "l20", "4090", "mi300x", "ascend"]
)
_SHARED_HUES = {"gh200": 1, "a40": 2, "l40": 3, "v100": 4, "t4": 5, "5090": 6, "a30": 3, "a10": 6, "a10g": 6, "l4": 1}
_SHARED = 6
_MAKERS = frozenset({"nvidia", "amd", "instinct", "huawei", "intel"})
_SPELLED = {"gpu": "GPU", "nvl": "NVL", "rtx": "RTX", "sxm": "SXM", "hbm": "HBM", "mig": "MIG", "pcie": "PCIe"}


def state_look(state: str) -> Look:
    """The look of a state; one that has no entry is shown by its own name, never hidden."""
    known = _STATES.get(state)
    return known or Look("open", state.replace("_", " ").capitalize(), "none")


def known_states() -> list[str]:
    """Every state and cause that has a look of its own."""
    return list(_STATES)


def tier_look(tier: str | None, *, in_full: bool = False) -> tuple[int, str | Promise]:
    """Filled bars (0 to 3) and word of a priority tier."""
    level, word, words = _TIERS.get(tier or "", (0, _("No tier"), _("No tier")))
    return level, words if in_full else word


def model_class(gpu_model: str) -> str:
    """The class that carries a GPU model's hue: fixed for known models, stable by name for others."""
    words = _words(gpu_model)
    for word in words:
        if word in _OWN_HUES:
            return f"model-{word}"
    for word in words:
        if word in _SHARED_HUES:
            return f"model-other-{_SHARED_HUES[word]}"
    return f"model-other-{zlib.crc32('-'.join(words).encode()) % _SHARED + 1}"


def model_title(gpu_model: str) -> str:
    """A GPU model as people say it, from its title or its key: ``NVIDIA H100`` and ``h100`` are H100.

    The maker goes where something is left; a title is otherwise kept as it is written.
    """
    if gpu_model != gpu_model.lower() or not gpu_model.isascii():
        kept = [word for word in gpu_model.split() if word.lower() not in _MAKERS]
        return " ".join(kept) or gpu_model
    return " ".join(_spelled(word) for word in _words(gpu_model)) or gpu_model


def _words(gpu_model: str) -> list[str]:
    """Words of a title or a key in lower case, without the maker; a name without any word is one itself."""
    words = re.split(r"[\W_]+", gpu_model.lower())
    return [word for word in words if word and word not in _MAKERS] or [gpu_model.lower()]


def _spelled(word: str) -> str:
    size = re.fullmatch(r"(\d+)gb", word)
    if size:
        return f"{size[1]} GB"
    return _SPELLED.get(word, word.upper() if any(letter.isdigit() for letter in word) else word.capitalize())
