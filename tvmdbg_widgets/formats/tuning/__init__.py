"""Logs of TVM's tuners, and what else a tuning leaves behind."""
