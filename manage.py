#!/usr/bin/env python3
"""Django's command line. ``./run manage`` calls it with the environment of an instance."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings.local")
    execute_from_command_line(sys.argv)
