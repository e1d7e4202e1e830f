"""Questions about tuning logs."""
