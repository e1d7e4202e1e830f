"""Facts about a run that are derived from its parts once, and kept."""
