"""Tests: real PostgreSQL and Redis, which ``./run test`` starts; cheap password hashes, mail in memory."""

import os

from portal.settings import logs
from portal.settings.base import *  # noqa: F403
from portal.settings.environment import database, redis_url

# Parallel test processes share one Redis; each has two numbered databases of its own there.
_PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_REDIS = redis_url("SLUICE_BROKER_URL", "redis://127.0.0.1:6379/0").rsplit("/", 1)[0]

SECRET_KEY = "only-for-tests-" + "0" * 40
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "testserver"]
DATABASES = {"default": database("postgres://sluice@127.0.0.1:5432/sluice")}
CELERY_BROKER_URL = f"{_REDIS}/{2 * _PROCESS}"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": f"{_REDIS}/{2 * _PROCESS + 1}",
        "OPTIONS": {"serializer": "kernel.cache.JsonSerializer"},
    },
}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
LOGGING = logs.configure(as_json=False, level="WARNING")
