"""Static figures of every view, drawn without a browser."""
