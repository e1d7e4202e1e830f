"""Runs as files for others: offline pages, reports, and formats of other tools."""
