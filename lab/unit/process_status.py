"""What a process may do, by /proc/PID/status."""

from __future__ import annotations

import dataclasses

from lab.failure import LabFailure

SECCOMP_FILTER = 2


@dataclasses.dataclass(frozen=True)
class ProcessStatus:
    """User, sets of capabilities, no_new_privs and the mode of seccomp."""

    pid: int
    uid: int
    effective: int
    bounding: int
    no_new_privs: bool
    seccomp: int

    @classmethod
    def parse(cls, pid: int, lines: list[str]) -> ProcessStatus:
        """LabFailure if a field lacks."""
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        try:
            return cls(
                pid,
                int(fields["Uid"].split()[0]),
                int(fields["CapEff"], 16),
                int(fields["CapBnd"], 16),
                fields["NoNewPrivs"].strip() == "1",
                int(fields["Seccomp"]),
            )
        except (KeyError, ValueError, IndexError) as error:
            raise LabFailure(f"the status of process {pid} cannot be read: {error!r}")

    def unprivileged(self) -> bool:
        """It is not root, has no capability and gets none, and a filter looks at its system calls."""
        powerless = self.uid != 0 and self.effective == 0 and self.bounding == 0
        return powerless and self.no_new_privs and self.seccomp == SECCOMP_FILTER

    def text(self) -> str:
        """The values, as part of a sentence."""
        return (
            f"uid {self.uid}, capabilities {self.effective:#x} of {self.bounding:#x}, "
            f"no_new_privs {int(self.no_new_privs)}, seccomp {self.seccomp}"
        )
