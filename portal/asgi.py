"""The web process: ``uvicorn portal.asgi:application``."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.local")

application = get_asgi_application()
