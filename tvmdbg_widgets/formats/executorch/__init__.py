"""What ExecuTorch leaves behind: ETDump, debug buffer, ETRecord, program files."""
