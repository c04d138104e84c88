"""A server that the suite knows by its URLs alone."""

import contextlib
import subprocess

import pytest

# The server starts, or says why not, within this.
START_S = 20


@contextlib.contextmanager
def third_party(suite, *arguments, host="127.0.0.1", tcp_port=0):
    """Runs the scripted server: (RDMA port, TCP port)."""
    port_file = suite.pytester.path / "third-party.port"
    port_file.unlink(missing_ok=True)
    command = [str(suite.program), "--listen", f"iwarp://{host}:0", "--listen"]
    command += [f"tcp://{host}:{tcp_port}", "--port-file", str(port_file), *arguments]
    process = subprocess.Popen(command)
    try:
        for _ in range(START_S * 100):
            if port_file.exists():
                break
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.01)
        yield [int(line) for line in port_file.read_text().split()]
    finally:
        process.kill()
        process.wait()
