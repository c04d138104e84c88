"""Our server started by the units of its Debian package, under systemd."""
