"""What ExecuTorch's files say, as they say it: dumps, records, programs."""
