"""Rules on ExecuTorch runs; silent for all others."""
