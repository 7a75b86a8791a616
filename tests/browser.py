"""A headless Chromium for the tests of pages, driven through chromedriver."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


def start_chromium(*more: str) -> Any:
    """A browser, with more of its options; a skip where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium to open pages with")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no chromium with chromedriver to open pages with")
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *more):
        options.add_argument(argument)
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests."""
    running = start_chromium()
    yield running
    running.quit()


@pytest.fixture
def opened(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open a page; at the end nothing may stand on the console, nothing been asked of a network."""

    def open_page(
        file: Path, width: int = 1280, height: int = 900, scheme: str = "light", media: str = ""
    ) -> Any:
        chromium.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        chromium.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": media, "features": features}
        )
        chromium.get(file.as_uri())
        return chromium

    chromium.get_log("browser")
    yield open_page
    assert chromium.get_log("browser") == []
    resources = "return performance.getEntriesByType('resource').map(e => e.name)"
    assert [name for name in chromium.execute_script(resources) if "data:" not in name] == []


def walk(browser: Any) -> str:
    """Open the first call site, and go over the whole time line; what stands on it in words."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    assert browser.find_element(By.TAG_NAME, "h1").text
    button = browser.find_element(By.CSS_SELECTOR, "#sites .disclose")
    browser.execute_script("arguments[0].click()", button)
    card = browser.find_element(By.ID, button.get_attribute("aria-controls"))
    assert card.is_displayed() and "calls" in card.text
    canvas = browser.find_element(By.CSS_SELECTOR, "#timeline canvas")
    canvas.send_keys(Keys.END, "-", Keys.HOME, "+", Keys.ARROW_LEFT, Keys.ARROW_DOWN, Keys.HOME)
    if browser.execute_script("return imbrexTimeline.messages"):
        browser.execute_script("imbrexTimeline.choose(0)")
        assert browser.find_element(By.CSS_SELECTOR, "#why h3").text
    assert browser.execute_script("return imbrexTimeline.count") > 0
    return str(browser.find_element(By.ID, "timeline").text)
