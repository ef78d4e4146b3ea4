"""``python -m tools.site SITE [--screens FOLDER]``: check a built site.

Always: every link inside of it. With ``--screens``: every page in Chromium at the width of a desk
and of a phone, with a picture of each in FOLDER.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.site.links import dead_links, pages


def main() -> int:
    """Print what is wrong; return 1 if anything is."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--screens", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    site = given.site.resolve()
    wrong = dead_links(site)
    if given.screens is not None:
        from tools.site.screens import too_wide

        given.screens.mkdir(parents=True, exist_ok=True)
        wrong += too_wide(site, given.screens)
    print("\n".join([*wrong, f"{len(pages(site))} pages, {len(wrong)} faults"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
