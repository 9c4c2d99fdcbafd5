"""An installation behind a TLS proxy: secrets and addresses come from the environment and have no default."""

from portal.settings import logs
from portal.settings.base import *  # noqa: F403
from portal.settings.environment import database, env, redis_url

SECRET_KEY = env.str("SLUICE_SECRET_KEY").strip()
ALLOWED_HOSTS = env.list("SLUICE_ALLOWED_HOSTS")
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
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
BASE_URL = env.str("SLUICE_BASE_URL").rstrip("/")
CSRF_TRUSTED_ORIGINS = [BASE_URL]

# The proxy ends TLS, says so in this header, and drops the header when a client sends it.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = True
# The container's own probes come without TLS.
SECURE_REDIRECT_EXEMPT = [r"^livez$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True

EMAIL_HOST = env.str("SLUICE_MAIL_HOST", default="localhost")
EMAIL_PORT = env.int("SLUICE_MAIL_PORT", default=25)
EMAIL_HOST_USER = env.str("SLUICE_MAIL_USER", default="")
EMAIL_HOST_PASSWORD = env.str("SLUICE_MAIL_PASSWORD", default="").strip()
EMAIL_USE_TLS = env.bool("SLUICE_MAIL_TLS", default=False)
LOGGING = logs.configure(as_json=True)
