"""What is the same in every installation."""

from datetime import time, timedelta
from typing import Any

from kombu import Queue

from portal.settings.environment import ROOT, data_folder, env
from portal.settings.schedule import BEAT_SCHEDULE

BASE_DIR = ROOT
DATA_DIR = data_folder()
ARTEFACTS_DIR = DATA_DIR / "artefacts"
"""Files that outlive their process: job logs, reports, exports. Part of a backup."""

DEBUG = False
ROOT_URLCONF = "portal.urls"
ASGI_APPLICATION = "portal.asgi.application"
WSGI_APPLICATION = "portal.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
APPEND_SLASH = False

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "portal.staticfiles.SelectedStaticFiles",
    "rest_framework",
    "drf_spectacular",
    "django_filters",
    "django_htmx",
    "guardian",
    "axes",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    # Our rooms, lowest first.
    "kernel",
    "accounts",
    "approvals",
    "inventory",
    "projects",
    "quotas",
    "scheduling",
    "monitoring",
    "portal",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "kernel.pages.NulMiddleware",
    "kernel.pages.OwnAnswerMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.languages.PersonLanguageMiddleware",
    "accounts.announcements.AnnouncementMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "kernel.pages.OriginMiddleware",
    "kernel.pages.ErrorPageMiddleware",
    # Last, so that it sees the answer of the log-in itself.
    "axes.middleware.AxesMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "portal.navigation.frame",
                "accounts.announcements.frame",
                "accounts.notifications.unread.frame",
            ],
        },
    },
]

# People and sign-in
AUTH_USER_MODEL = "accounts.Person"
AUTHENTICATION_BACKENDS = [
    # First: refuses a locked-out caller before any other backend compares a password.
    "axes.backends.AxesStandaloneBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
    "guardian.backends.ObjectPermissionBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ANONYMOUS_USER_NAME = None  # Guardian's row for "nobody" would be a person who can be granted something.
GUARDIAN_MONKEY_PATCH_USER = False
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
# Only signing in is open; who is let in is decided in accounts.
ACCOUNT_ADAPTER = "accounts.single_sign_on.ClosedAccountAdapter"
SOCIALACCOUNT_ADAPTER = "accounts.single_sign_on.SingleSignOnAdapter"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
# The page names the waiting time; refused attempts must not make it longer.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_CALLABLE = "accounts.sign_in.locked_out"
AXES_USERNAME_CALLABLE = "accounts.sign_in.username_of"
AXES_ENABLE_ADMIN = False

OIDC_ISSUER = env.str("SLUICE_OIDC_ISSUER", default="")
# Whether whoever the provider knows gets an account (without a role), or only whom an admin has created.
OIDC_CREATES_PEOPLE = env.bool("SLUICE_OIDC_CREATE_PEOPLE", default=False)
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": []}}
if OIDC_ISSUER:
    SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"].append(
        {
            "provider_id": "oidc",
            "name": env.str("SLUICE_OIDC_NAME", default="SSO"),
            "client_id": env.str("SLUICE_OIDC_CLIENT_ID"),
            "secret": env.str("SLUICE_OIDC_CLIENT_SECRET").strip(),
            "settings": {"server_url": OIDC_ISSUER},
        }
    )

# Language and time. Instants are stored in UTC; days, months and caps follow the organisation's zone.
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [ROOT / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
ORGANISATION_TIME_ZONE = env.str("SLUICE_TIME_ZONE", default="UTC")

# Static files: ours, and the chosen folders of the front-end packages. Nothing comes from a CDN.
STATIC_URL = "/static/"
STATIC_ROOT = ROOT / "staticfiles"
STATICFILES_DIRS: list[Any] = [
    ROOT / "static",
    ("vendor/tabler/css", ROOT / "node_modules" / "@tabler" / "core" / "dist" / "css"),
    ("vendor/tabler/js", ROOT / "node_modules" / "@tabler" / "core" / "dist" / "js"),
    ("vendor/uplot", ROOT / "node_modules" / "uplot" / "dist"),
]

# The folders of the packages appear with the first set-up of the pages; commands work without them.
SILENCED_SYSTEM_CHECKS = ["staticfiles.W004"]

# What a browser may do with our pages
_OIDC_ORIGINS = [OIDC_ISSUER] if OIDC_ISSUER else []
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        # Tabler's style sheet carries its small pictures as data: URLs.
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
        "form-action": ["'self'", *_OIDC_ORIGINS],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024

# The API
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "accounts.api.permissions.ScopePermission",
    ],
    "DEFAULT_PAGINATION_CLASS": "kernel.api.pagination.PagePagination",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["kernel.api.parsers.StorableJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "kernel.api.openapi.PortalAutoSchema",
    "EXCEPTION_HANDLER": "kernel.problem.problem_handler",
    "DEFAULT_VERSION": "v1",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Sluice",
    "DESCRIPTION": "Priorities into quotas, quotas into running jobs.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    # Choices that several resources call by one name (state, kind): their names in the document.
    "ENUM_NAME_OVERRIDES": {
        "AnnouncementKindEnum": "accounts.models.AnnouncementKind",
        "RoleEnum": "accounts.models.Role",
        "ProjectRoleEnum": "projects.models.ProjectRole",
        "ProjectStateEnum": "projects.states.ProjectState",
        "ProjectKindEnum": "projects.models.Kind",
        "ProjectImportStateEnum": "projects.states.ImportState",
        "ImportRowKindEnum": "projects.models.RowKind",
        "JobStateEnum": "scheduling.states.JobState",
        "AttemptStateEnum": "scheduling.states.AttemptState",
        "NodeStateEnum": "inventory.states.NodeState",
        "DeviceStateEnum": "inventory.models.DeviceState",
        "PoolKindEnum": "inventory.models.PoolKind",
        "NodeSourceEnum": "inventory.models.Source",
        "EnrolmentTokenStateEnum": ["open", "used", "revoked", "expired"],
        "ClaimKindEnum": "quotas.models.ClaimKind",
        "ApprovalStateEnum": "approvals.states.ApprovalState",
        "RequestStateEnum": "quotas.states.RequestState",
    },
}

# Tasks. Results are not kept: what a task did is in the database.
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_DEFAULT_QUEUE = "dispatch"
CELERY_TASK_QUEUES = (Queue("solver"), Queue("dispatch"))
CELERY_TASK_TIME_LIMIT = 600
# Longer than the longest time limit: a task still at work is not handed out a second time.
# With a broker that is away, whoever sends a task learns it in a fraction of a second: beat and the nodes' syncs heal
# what was not sent. Workers reconnect by their own setting below, for ever.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 900,
    "socket_connect_timeout": 2,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.2,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# The thread pool cannot end a task; every task bears being delivered again while an old run still works.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = BEAT_SCHEDULE

EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
DEFAULT_FROM_EMAIL = env.str("SLUICE_MAIL_FROM", default="sluice@localhost")
EMAIL_TIMEOUT = 20
# When the daily digest of notifications leaves, in the organisation's zone.
DIGEST_TIME = time.fromisoformat(env.str("SLUICE_DIGEST_TIME", default="07:00"))
# The organisation's chat: an address that takes {"text": …}, and the groups of notifications that are told there.
CHAT_WEBHOOK = env.str("SLUICE_CHAT_WEBHOOK", default="").strip()
CHAT_GROUPS = env.list("SLUICE_CHAT_GROUPS", default=["monitoring"])
BASE_URL = env.str("SLUICE_BASE_URL", default="http://127.0.0.1:8000").rstrip("/")
CSRF_TRUSTED_ORIGINS = [BASE_URL]

# Telemetry: raw samples are kept so long; a newest sample older than the second says *no data*.
MONITORING_RAW_HOURS = env.int("SLUICE_RAW_SAMPLE_HOURS", default=48)
MONITORING_STALE_SECONDS = env.int("SLUICE_STALE_SECONDS", default=180)
