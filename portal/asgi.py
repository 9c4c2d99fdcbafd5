"""The web process: ``uvicorn portal.asgi:application``."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application

from portal.body_limit import BodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.local")

_django = get_asgi_application()
application = BodyLimit(_django, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
