"""Bytes at an offset: files, buffers, streams, URLs."""
