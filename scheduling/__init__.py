"""Jobs, attempts, dispatch, launchers, charges."""
