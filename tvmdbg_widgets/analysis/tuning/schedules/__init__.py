"""Schedules of records in all displayed forms, and comparison of two schedules."""
