"""Readers of ExecuTorch's files: ETDump, debug buffer, ETRecord, programs."""
