"""For servers without ASGI. Streams (logs, live pages) need ``portal.asgi``."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.local")

application = get_wsgi_application()
