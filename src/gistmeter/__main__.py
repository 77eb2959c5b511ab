"""Run the command line: `python -m gistmeter`."""

import sys

from gistmeter.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
