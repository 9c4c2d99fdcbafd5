"""A real Chromium against a real instance: web server, workers, scheduler, two agents."""
