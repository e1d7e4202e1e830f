"""What a page without a kernel carries instead of one."""
