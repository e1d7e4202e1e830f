"""Readers of delegates' payloads, and joins of their events."""
