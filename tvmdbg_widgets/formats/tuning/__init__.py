"""Logs of TVM's tuners, and other files of a tuning."""
