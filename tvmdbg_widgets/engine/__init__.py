"""The views' own TypeScript, run without a browser."""
