"""A progress bar on standard error, if that is a terminal."""

from tqdm import tqdm

# How long a transfer works before the bar is drawn again and a pressed Ctrl-C is noticed.
STEP_S = 0.1
# A copy that is over before needs no bar.
QUIET_S = 0.5


def run(transfer, name):
    """Works on the transfer until it is complete."""
    bar = tqdm(
        total=transfer.total_bytes,
        desc=name,
        unit="B",
        unit_scale=True,
        unit_divisor=1024,
        delay=QUIET_S,
        disable=None,  # no bar when standard error is no terminal
    )
    with bar:
        complete = False
        while not complete:
            complete = transfer.step(STEP_S)
            bar.update(transfer.done_bytes - bar.n)
