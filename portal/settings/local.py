"""One machine: everything that ``./run`` starts. Its environment is set by the supervisor."""

from portal.settings import logs
from portal.settings.base import *  # noqa: F403
from portal.settings.environment import database, env, redis_url

SECRET_KEY = env.str("SLUICE_SECRET_KEY").strip()
ALLOWED_HOSTS = env.list("SLUICE_ALLOWED_HOSTS", default=["127.0.0.1", "localhost"])
DATABASES = {"default": database()}
CELERY_BROKER_URL = redis_url("SLUICE_BROKER_URL")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": redis_url("SLUICE_CACHE_URL"),
        "OPTIONS": {"serializer": "kernel.cache.JsonSerializer"},
    },
}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # Names with a content hash, so that a browser never mixes two versions.
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"},
}
EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = DATA_DIR / "mail"  # noqa: F405
LOGGING = logs.configure(as_json=False)
