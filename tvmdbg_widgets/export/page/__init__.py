"""One offline HTML file of a run: what is stored in it, and how it is written."""
