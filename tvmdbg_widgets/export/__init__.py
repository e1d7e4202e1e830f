"""Runs as files for others: the page without a kernel, reports, other tools' formats."""
