"""``python -m experiments NAME``: the same as ``eigengraphs reproduce NAME``, in a checkout."""

import sys

from eigengraphs.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["reproduce"]
    main()
