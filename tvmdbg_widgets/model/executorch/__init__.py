"""Contents of ExecuTorch's files: dumps, records, programs."""
