"""Program files: what a runtime executes, and a graph of it."""
