"""A script that measures chosen schedules of a tuning log on another machine."""
