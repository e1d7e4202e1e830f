"""Bytes at an offset: files, buffers, streams, URLs, folders and archives."""
