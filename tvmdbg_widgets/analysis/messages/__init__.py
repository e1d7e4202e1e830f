"""Messages of TVM and ExecuTorch, and what is known about each."""
