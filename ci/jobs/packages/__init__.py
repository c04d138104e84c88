"""What `ci/package` makes: the changelog of Debian packages."""
