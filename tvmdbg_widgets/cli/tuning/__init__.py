"""The verbs on tuning logs: ``tvmdbg tuning``, one file a verb."""
