"""Captured network traffic: pcap and pcapng files to the byte streams of TCP connections."""
