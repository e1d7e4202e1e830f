"""Readers and writers of files: bytes to model and back, one module per format."""
