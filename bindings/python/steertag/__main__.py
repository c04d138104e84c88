"""`python -m steertag` is the command `steertag`."""

import sys

from .cli import main

sys.exit(main())
