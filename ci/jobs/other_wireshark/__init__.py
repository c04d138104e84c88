"""The Wireshark plugin with the Wireshark of another Debian suite."""
