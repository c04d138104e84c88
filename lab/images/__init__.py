"""What a machine boots: a kernel and a root file system, made of Debian packages."""
