"""Questions about a run that need more than one of its parts."""
