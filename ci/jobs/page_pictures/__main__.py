"""`ci/page-pictures`: runs the suite with and without a deviation, and writes the pictures of both pages."""

import sys

from ci.jobs.page_pictures import page_pictures

if __name__ == "__main__":
    sys.exit(page_pictures.main())
