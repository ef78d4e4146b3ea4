"""A browser for the tests of the page, where there is one."""

import shutil

import pytest

CHROMIUM = "/usr/bin/chromium"


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra test)")
    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"needs {CHROMIUM}; on Debian, apt-get install chromium")
    with api.sync_playwright() as playwright:
        # Debian's, which comes with the system: nothing is downloaded for the tests.
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def visit(browser):
    """Return a function that opens a file; in the end, all that went wrong must be nothing."""
    opened, wrong = [], []

    def go(path, **settings):
        settings = {"viewport": {"width": 1200, "height": 900}} | settings
        page = browser.new_page(**settings)
        opened.append(page)
        page.on("console", lambda message: wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        address = path.as_uri()
        page.on("request", lambda request: request.url.partition("#")[0] == address
                or wrong.append(f"request: {request.url}"))  # fmt: skip
        page.goto(address)
        page.wait_for_selector("html.ready", state="attached", timeout=20_000)
        return page

    yield go
    for page in opened:
        page.close()
    assert wrong == []
