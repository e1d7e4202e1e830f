"""What the view of a tuning log is given, and its figure."""
