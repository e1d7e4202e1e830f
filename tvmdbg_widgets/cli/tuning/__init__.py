"""Verbs on tuning logs: ``tvmdbg tuning``, one file per verb."""
