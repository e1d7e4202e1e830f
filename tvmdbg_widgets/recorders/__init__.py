"""What writes the files that the readers read, while a program is compiled or runs."""
