"""Settings of one installation: ``base`` is the same everywhere, then ``local``, ``production`` or ``test``."""
