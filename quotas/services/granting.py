"""What a decision on a request does to the ledger, worked out from what is in force under lock."""

from datetime import datetime

from django.utils.translation import gettext as _

from accounts.models import Person
from inventory.models import GpuModel
from kernel import clock
from kernel.calendar import organisation_zone
from kernel.formats import exact_instant, number
from kernel.intervals import Interval
from projects.models import Project
from quotas.errors import HasMore, WindowOver
from quotas.models import Claim, QuotaRequest, Resource
from quotas.raises import Totals, is_lower
from quotas.requests.asking import Asked, holdings_of, kept_by
from quotas.services.claims import Origin, grant_base, grant_on_top, require_active
from quotas.services.requests import step
from quotas.services.terms import Terms

GRANTED = ("granted_guaranteed", "granted_limit", "granted_from", "granted_ends_at")


def grant_request(
    request: QuotaRequest, asked: Asked, *, project: Project, model: GpuModel, actor: Person | None, reason: str
) -> list[Claim]:
    """Give what is asked and mark the request approved. The caller holds the locks of project, GPU model and request.

    Without an end the base becomes what is asked; with one, temporary claims lift what is in force to it, piece by
    piece, so that granting the same again gives nothing more. Raises ``NoResources``, ``WindowOver``, ``HasMore``,
    ``ExceedsFree``: then nothing is given and the decision waits on.
    """
    require_active(project)
    now = clock.now()
    window = asked.window(now)
    if window is None:
        raise _over(asked, now)
    holdings = holdings_of(request, now)
    kept = kept_by(asked, holdings.replaced_through(asked, window))
    if request.is_raise:
        _refuse_less(asked, kept)
    if request.keeps_limit and not asked.is_temporary and asked.totals.limit == request.limit:
        _refuse_lower_limit(asked, kept)
    origin = Origin(actor, request)
    terms = _terms(request, asked, window)
    if asked.is_temporary:
        claims = grant_on_top(origin, project, holdings.on_top(asked, window), terms, model)
    else:
        claims = [grant_base(origin, project, terms, model)]
    request.granted_guaranteed, request.granted_limit = asked.totals.guaranteed, asked.totals.limit
    request.granted_from, request.granted_ends_at = window.start, window.end
    step(request, "approve", actor, reason, GRANTED)
    return claims


def _refuse_lower_limit(asked: Asked, kept: Totals) -> None:
    """The same of the limit; one that who decides has chosen was judged with the vote."""
    if is_lower(asked.totals.limit, kept.limit):
        text = _("The limit is %(held)s by now, more than the %(asked)s that would be granted. Refuse it, or ask back.")
        if kept.limit is None:
            text = _("There is no limit by now, and %(asked)s would be granted. Refuse it, or ask back.")
        words = {"held": number(kept.limit or 0), "asked": number(asked.totals.limit or 0)}
        raise HasMore(text % words, data={"asked_limit": asked.totals.limit, "held_limit": kept.limit})


def _refuse_less(asked: Asked, kept: Totals) -> None:
    """A raise never takes anything away: somebody may have given more meanwhile."""
    has = kept.guaranteed
    if has > asked.totals.guaranteed:
        text = _(
            "%(held)s are guaranteed by now, more than the %(asked)s that would be granted. Refuse it, or ask back."
        )
        words = {"held": number(has), "asked": number(asked.totals.guaranteed)}
        raise HasMore(text % words, data={"asked": asked.totals.guaranteed, "held": has})


def _over(asked: Asked, now: datetime) -> WindowOver:
    ends_at = asked.ends_at or now
    text = _("It was asked for until %(at)s: that has passed. Refuse it, or ask back for another time.")
    return WindowOver(text % {"at": exact_instant(ends_at, organisation_zone())}, data={"ends_at": ends_at.isoformat()})


def _terms(request: QuotaRequest, asked: Asked, window: Interval) -> Terms:
    return Terms(
        resource=Resource.GPU,
        gpu_model_id=request.gpu_model_id,
        guaranteed=asked.totals.guaranteed,
        limit=asked.totals.limit,
        effective_from=window.start,
        effective_to=window.end,
        reason=request.reason,
    )
