"""Tuning logs: tasks, trials as columns, transform steps, and compute DAGs."""
