"""The site: settings, URLs, Celery, the supervisor, and the pages that compose rooms."""
