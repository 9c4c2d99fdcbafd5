"""Tests: real PostgreSQL and Redis, which ``./run test`` starts; cheap password hashes, mail in memory."""

from portal.settings import logs
from portal.settings.base import *  # noqa: F403
from portal.settings.environment import database, redis_url

SECRET_KEY = "only-for-tests-" + "0" * 40
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "testserver"]
DATABASES = {"default": database("postgres://sluice@127.0.0.1:5432/sluice")}
CELERY_BROKER_URL = redis_url("SLUICE_BROKER_URL", "redis://127.0.0.1:6379/0")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": redis_url("SLUICE_CACHE_URL", "redis://127.0.0.1:6379/1"),
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
