"""ExecuTorch's runs as a user holds them."""
