"""Figures of what a piece of memory or of a stream holds, byte by byte."""
