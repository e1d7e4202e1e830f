"""Rules over runs of ExecuTorch; silent for all others."""
