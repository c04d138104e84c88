"""The lab: virtual machines with known targets for the suites."""
