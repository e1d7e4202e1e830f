"""Why no bounds are inferred."""

from __future__ import annotations


class RefusedError(Exception):
    """What TE refuses, or what is too intricate to follow; the text says why."""
