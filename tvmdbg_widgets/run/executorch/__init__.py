"""Inspector and debug handle maps of ExecuTorch's runs."""
