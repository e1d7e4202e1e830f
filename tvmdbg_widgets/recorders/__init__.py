"""Writers of ETDumps and debug buffers, for use while a program is compiled or runs."""
