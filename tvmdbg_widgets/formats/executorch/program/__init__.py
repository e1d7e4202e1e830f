"""Readers of program files, and graphs of their methods."""
