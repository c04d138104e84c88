"""`use.py SOCKET`, a client command of the client suite: runs the client in the guest once.

Asks the lab for it, prints what the guest printed, and ends with its status. Imports nothing that takes time,
because it runs twice for each case."""

import socket
import sys

LOST = 1  # the lab hung up: the machine is gone
READ_BYTES = 4096
MOST_ANSWER_BYTES = 1 << 20

answer = b""
with socket.socket(socket.AF_UNIX) as lab:
    lab.connect(sys.argv[1])
    while len(answer) < MOST_ANSWER_BYTES:
        data = lab.recv(READ_BYTES)
        if not data:
            break
        answer += data
*log, status = answer.decode(errors="replace").splitlines() or [""]
for line in log:
    print(line)
if not status.isdecimal():
    print("the guest is gone")
sys.exit(int(status) if status.isdecimal() else LOST)
