"""Settings of one installation: ``base`` is the same everywhere; choose ``local``, ``production`` or ``test``."""
