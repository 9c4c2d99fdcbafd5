"""Banners: which announcements a page shows to whom, at the price of one look into the cache.

What is current or coming is read once and kept for a minute; every change forgets it at once. A cache that is down
costs one statement a page and nothing else.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from redis.exceptions import RedisError

from accounts.models import AnnouncementKind, AnnouncementLevel
from accounts.policies import organisation_roles
from accounts.selectors import NOTICE, open_announcements
from kernel import clock, formats
from kernel.calendar import organisation_zone

CACHE_KEY = "accounts:announcements"
KEPT_SECONDS = 60
"""A reader that began before a change may still store what was; it is right again after this time."""
COOKIE = "sluice_dismissed"
COOKIE_MAX = 40
_WITHOUT_PAGES = ("/api/", "/agent/", "/livez", "/readyz", "/metrics")

GetResponse = Callable[[HttpRequest], HttpResponse]


@dataclass(frozen=True, slots=True)
class Notice:
    """An announcement as it lies in the cache: plain values, instants as ISO 8601."""

    pk: int
    revision: int
    kind: str
    level: str
    title: str
    text: str
    audience: list[str]
    starts_at: str
    ends_at: str | None


@dataclass(frozen=True, slots=True)
class Banner:
    """One notice at one moment. ``key`` names it in the cookie of what was dismissed: an edit makes another key."""

    notice: Notice
    now: datetime
    starts_at: datetime
    ends_at: datetime | None

    @property
    def is_now(self) -> bool:
        return self.starts_at <= self.now

    @property
    def when(self) -> str:
        """Of maintenance: how soon it begins and how long it lasts. Empty for what is news."""
        if not self.is_maintenance or self.ends_at is None:
            return ""
        zone = organisation_zone()
        words = {
            "length": formats.duration((self.starts_at - self.now).total_seconds()),
            "start": formats.coming_instant(self.starts_at, self.now, zone),
            "end": formats.coming_instant(self.ends_at, self.now, zone),
        }
        if self.is_now:
            return _("Maintenance now, until %(end)s.") % words
        return _("Maintenance in %(length)s, from %(start)s to %(end)s.") % words

    @property
    def key(self) -> str:
        return f"{self.notice.pk}.{self.notice.revision}.{'now' if self.is_now else 'coming'}"

    @property
    def is_maintenance(self) -> bool:
        return self.notice.kind == AnnouncementKind.MAINTENANCE

    @property
    def may_be_dismissed(self) -> bool:
        """Not while something does not work: it explains what people see."""
        return not (self.is_maintenance and self.is_now)

    @property
    def look(self) -> str:
        """The class of the banner: strong during maintenance, as a warning, or calm."""
        if self.is_maintenance and self.is_now:
            return "is-strong"
        is_warning = self.is_maintenance or self.notice.level == AnnouncementLevel.WARNING
        return "is-warning" if is_warning else "is-info"

    @property
    def rank(self) -> tuple[int, datetime, int]:
        """What matters most first, then what begins first."""
        return (("is-strong", "is-warning", "is-info").index(self.look), self.starts_at, self.notice.pk)


class AnnouncementMiddleware:
    """Reads the notices before the view, because templates ask no database. Partials and programs need none."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "HX-Request" not in request.headers and not request.path.startswith(_WITHOUT_PAGES):
            request.notices = notices()  # type: ignore[attr-defined]
        return self.get_response(request)


def frame(request: HttpRequest) -> dict[str, Any]:
    """Context processor: the banners of this page."""
    found: list[Notice] = getattr(request, "notices", [])
    return {"banners": banners(found, request.user, request.COOKIES) if found else []}


def notices() -> list[Notice]:
    """What is current or may become so while this is kept, from the cache or the database."""
    try:
        kept = cache.get(CACHE_KEY)
    except RedisError:
        return _read()
    known = _of_cache(kept)
    if known is not None:
        return known
    found = _read()
    try:
        cache.set(CACHE_KEY, [asdict(notice) for notice in found], KEPT_SECONDS)
    except RedisError:
        return found
    return found


def _of_cache(kept: object) -> list[Notice] | None:
    """What was kept; nothing where another version of the portal has written it."""
    if not isinstance(kept, list):
        return None
    try:
        return [Notice(**row) for row in kept]
    except TypeError:
        return None


def _read() -> list[Notice]:
    until = clock.now() + NOTICE + timedelta(seconds=KEPT_SECONDS)
    return [
        Notice(
            pk=row.pk,
            revision=row.revision,
            kind=row.kind,
            level=row.level,
            title=row.title,
            text=row.text,
            audience=row.audience,
            starts_at=row.starts_at.isoformat(),
            ends_at=row.ends_at.isoformat() if row.ends_at else None,
        )
        for row in open_announcements(clock.now()).filter(starts_at__lte=until)
    ]


def forget_on_commit() -> None:
    """The next page reads anew. A cache that is down keeps nothing that could be stale for long."""
    transaction.on_commit(_forget)


def _forget() -> None:
    try:
        cache.delete(CACHE_KEY)
    except RedisError:
        return


def banners(found: Collection[Notice], person: object, cookies: Mapping[str, str]) -> list[Banner]:
    """What this person is shown now, the most important first."""
    now, gone = clock.now(), dismissed(cookies)
    shown = [banner for notice in found if (banner := at(notice, now)) and _is_for(notice, person)]
    return sorted(
        (banner for banner in shown if banner.key not in gone or not banner.may_be_dismissed), key=lambda b: b.rank
    )


def at(notice: Notice, now: datetime) -> Banner | None:
    """The banner at this instant: during ``[starts_at, ends_at)``, of maintenance also in the time of notice."""
    starts_at = datetime.fromisoformat(notice.starts_at)
    ends_at = datetime.fromisoformat(notice.ends_at) if notice.ends_at else None
    if ends_at is not None and ends_at <= now:
        return None
    first = starts_at - NOTICE if notice.kind == AnnouncementKind.MAINTENANCE else starts_at
    return Banner(notice, now, starts_at, ends_at) if first <= now else None


def _is_for(notice: Notice, person: object) -> bool:
    return not notice.audience or not organisation_roles(person).isdisjoint(notice.audience)


def dismissed(cookies: Mapping[str, str]) -> list[str]:
    """The keys that this browser's user has closed, oldest first."""
    return [key for key in cookies.get(COOKIE, "").split("-") if key][-COOKIE_MAX:]


def dismiss(cookies: Mapping[str, str], key: str) -> str:
    """The cookie's next value."""
    return "-".join([*(kept for kept in dismissed(cookies) if kept != key), key][-COOKIE_MAX:])
