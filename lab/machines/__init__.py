"""One virtual machine: qemu, its console, its links and serial ports, and its life from boot to end."""
