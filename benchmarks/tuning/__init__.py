"""Tuning logs: reading, questions, and their view."""
