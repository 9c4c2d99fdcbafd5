"""What the figures mean, in sentences that are true."""

import math

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from approvals.models import Approval
from approvals.rule_words import rule_title
from kernel.calendar import local_day
from kernel.formats import number, short_day
from portal.pages.approval.evidence.lending import Lending
from portal.pages.approval.evidence.outlook import Outlook
from portal.pages.approval.kinds import Line


def asked_words(seen: Outlook, title: str) -> str:
    """``64 more H100 for 53 days``."""
    more, until = _change(seen, title), seen.during.end
    if until is None:
        return more
    days = max(1, round((until - seen.during.start).total_seconds() / 86_400))
    length = ngettext("%(count)s day", "%(count)s days", days) % {"count": number(days)}
    return _("%(change)s for %(length)s") % {"change": more, "length": length}


def _change(seen: Outlook, title: str) -> str:
    most = seen.most_asked
    if most > 0:
        return _("%(count)s more %(model)s") % {"count": number(most), "model": title}
    least = min(step.asked for step in seen.asked_steps)
    if least < 0:
        return _("%(count)s %(model)s given back") % {"count": number(-least), "model": title}
    return _("Another limit of %(model)s") % {"model": title}


def effect_words(seen: Outlook, lost: Lending) -> str:
    """Whether it fits, and what it takes from others."""
    if seen.most_asked <= 0:
        return _("It guarantees no more than now: nothing is taken from anybody.")
    if not seen.fits:
        day = short_day(local_day(max(seen.tightest.at, seen.during.start)))
        words = {"count": number(-seen.tightest.left), "day": day}
        return _("It does not fit: %(count)s too many on %(day)s.") % words
    losers = len(lost.losers)
    if not losers:
        return _("It fits. No guarantee is touched, and nobody loses borrowed GPUs.")
    words_for = ngettext(
        "It fits. No guarantee is touched; %(count)s project loses borrowed GPUs.",
        "It fits. No guarantee is touched; %(count)s projects lose borrowed GPUs.",
        losers,
    )
    return words_for % {"count": losers}


def fit_line(seen: Outlook) -> Line:
    """Of how many free it takes how many, and what is left at the tightest."""
    if seen.most_asked <= 0:
        return Line("ok", _("It guarantees no more than now"))
    words = {"asked": number(seen.most_asked), "free": number(seen.least_free)}
    if seen.fits:
        text = _("Fits: %(asked)s of %(free)s free, %(left)s left at the tightest")
        return Line("ok", text % {**words, "left": number(seen.tightest.left)})
    return Line("bad", _("Does not fit: %(asked)s asked, %(free)s free at the tightest") % words)


def guarantee_line(seen: Outlook) -> Line:
    usable = number(seen.tightest.usable)
    if seen.fits:
        return Line("ok", _("Guarantees stay within %(usable)s usable") % {"usable": usable})
    return Line("bad", _("Guarantees would exceed %(usable)s usable") % {"usable": usable})


def reserve_line(seen: Outlook) -> Line:
    reserve = seen.tightest.reserve
    if not reserve:
        return Line("", _("No reserve is kept of this model"))
    if seen.keeps_reserve:
        return Line("ok", _("Reserve of %(count)s stays whole") % {"count": number(reserve)})
    return Line("bad", _("More is released from the reserve than its %(count)s") % {"count": number(reserve)})


def lost_line(lost: Lending) -> Line:
    """Who loses borrowed GPUs, and which jobs would stop."""
    losers = len(lost.losers)
    if not losers:
        return Line("ok", _("Nobody loses borrowed GPUs at the present use"))
    projects = ngettext("%(count)s project loses borrowed GPUs", "%(count)s projects lose borrowed GPUs", losers)
    words = {"projects": projects % {"count": losers}, "jobs": jobs_words(lost.stopped_jobs, lost.stopped_gpus)}
    return Line("waiting", _("%(projects)s; %(jobs)s would save and stop") % words)


def jobs_words(jobs: int, gpus: float) -> str:
    """``2 jobs, 24 GPUs``."""
    decimals = 0 if gpus == int(gpus) else 1
    one = ngettext("%(count)s job", "%(count)s jobs", jobs) % {"count": number(jobs)}
    other = ngettext("%(count)s GPU", "%(count)s GPUs", math.ceil(gpus)) % {"count": number(gpus, decimals)}
    return f"{one}, {other}"


def unmet_line(lost: Lending) -> Line | None:
    if not lost.unmet:
        return None
    text = _("%(count)s GPUs come free only as jobs end: nobody may be stopped for them now")
    return Line("", text % {"count": number(lost.unmet, 0 if lost.unmet == int(lost.unmet) else 1)})


def rule_line(approval: Approval) -> Line:
    """By which rule of the policy it is decided."""
    words = {"rule": rule_title(approval.rule), "number": approval.policy.number}
    return Line("", _("Rule “%(rule)s” of policy version %(number)s") % words)
