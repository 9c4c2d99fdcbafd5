"""The site: settings, URLs, Celery, the supervisor, and the pages that compose rooms."""

__version__ = "0.1.0"
