"""Pages of the site in a real browser, at the width of a desk and of a phone."""

from __future__ import annotations

from pathlib import Path

from tools.site.links import pages

__all__ = ["WIDTHS", "too_wide"]

WIDTHS = {"desktop": 1280, "phone": 390}
CHROMIUM = Path("/usr/bin/chromium")


def too_wide(site: Path, pictures: Path | None = None) -> list[str]:
    """Return pages that are wider than their screen or say something in the console.

    Parameters
    ----------
    site
        The built site.
    pictures
        Folder for a picture of each page and width.
    """
    from playwright.sync_api import sync_playwright

    wrong = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        for name, width in WIDTHS.items():
            context = browser.new_context(viewport={"width": width, "height": 900})
            # The site must not need anything from elsewhere.
            context.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
            tab = context.new_page()
            for page in pages(site):
                tab.goto(page.as_uri(), wait_until="load")
                wide = tab.evaluate("document.documentElement.scrollWidth")
                if wide > width:
                    wrong.append(f"{page.relative_to(site)}: {wide} pixels wide on a {name}")
                if pictures is not None:
                    flat = "-".join(page.relative_to(site).with_suffix("").parts)
                    tab.screenshot(path=pictures / f"{flat}-{name}.png", full_page=True)
            context.close()
        browser.close()
    return wrong
