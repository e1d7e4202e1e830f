"""One offline HTML file of a run: its contents, budget and format."""
