"""How settings read the environment: typed, and any secret may come as ``NAME_FILE`` instead of ``NAME``."""

from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

import environ

env = environ.FileAwareEnv()

ROOT = Path(__file__).resolve().parents[2]
"""The checkout (or, in a container, the installed tree)."""


def data_folder() -> Path:
    """The folder for artefacts, logs and, on one machine, the embedded databases."""
    return Path(env.str("SLUICE_DATA", default=str(ROOT / "var"))).resolve()


def _text(name: str, default: str | None) -> str:
    """The variable; without a default it must be set."""
    return str(env.str(name) if default is None else env.str(name, default=default))


def database(default_url: str | None = None) -> dict[str, Any]:
    """Django's description of the one PostgreSQL database.

    The password may stand in the URL or, better, in ``SLUICE_DATABASE_PASSWORD(_FILE)``.
    ``SLUICE_DATABASE_POOL`` > 0 keeps that many connections per process. Under ASGI every request runs in a
    thread of its own, so only a pool saves the log-in per request there; a prefork worker must not have one,
    because a pool does not survive a fork.
    """
    config = dict(env.db_url_config(_text("SLUICE_DATABASE_URL", default_url)))
    password = env.str("SLUICE_DATABASE_PASSWORD", default="").strip()
    if password:
        config["PASSWORD"] = password
    config["ENGINE"] = "django.db.backends.postgresql"
    config["CONN_HEALTH_CHECKS"] = True
    options = dict(config.get("OPTIONS") or {})
    pool_size = env.int("SLUICE_DATABASE_POOL", default=0)
    if pool_size:
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 10}
    config["CONN_MAX_AGE"] = 0 if pool_size else 60
    config["OPTIONS"] = options
    return config


def redis_url(name: str, default: str | None = None) -> str:
    """A Redis URL with the password from ``SLUICE_REDIS_PASSWORD(_FILE)`` put in, unless it has one."""
    url = _text(name, default)
    password = env.str("SLUICE_REDIS_PASSWORD", default="").strip()
    parts = urlsplit(url)
    if not password or "@" in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=f":{quote(password, safe='')}@{parts.netloc}"))
