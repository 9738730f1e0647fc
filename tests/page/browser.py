"""Headless Chromium, which can reach nothing but this machine, and what a test asks of it."""
from __future__ import annotations

import base64
import functools
import json
import pathlib
import shutil
import sys
import tempfile
from typing import Any

PATIENCE_SECONDS = 60  # a deadline for what ought to come at once
LOOK_SECONDS = 0.05  # between two looks whether it has come

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import waiting  # noqa: E402

until = functools.partial(waiting.until, patience=PATIENCE_SECONDS, pause=LOOK_SECONDS)

PHONE = (360, 740)
DESK = (1200, 900)


def what_is_missing() -> str:
    """Why there is no browser here; empty if there is one."""
    for tool in ("chromium", "chromedriver"):
        if shutil.which(tool) is None:
            return f"there is no `{tool}`; `./dev test` installs it"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "there is no python3-selenium; `./dev test` installs it"
    return ""


class Browser:
    """One window. Ended by `close`, with the processes and the folder that are its own."""

    def __init__(self) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        self._folder = tempfile.TemporaryDirectory(prefix="tenure-page-")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or "chromium"
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                     "--disable-dev-shm-usage", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync", "--disable-default-apps",
                     "--hide-scrollbars", "--force-device-scale-factor=1",
                     "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                     f"--user-data-dir={self._folder.name}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self._driver = webdriver.Chrome(
            service=Service(shutil.which("chromedriver") or "chromedriver"), options=options)
        # To the page, a clock that is not the tests'.
        self.command("Emulation.setTimezoneOverride", timezoneId="Europe/Berlin")
        self.window(DESK)

    def close(self) -> None:
        self._driver.quit()
        self._folder.cleanup()

    def command(self, name: str, **arguments: Any) -> Any:
        return self._driver.execute_cdp_cmd(name, arguments)

    def window(self, size: tuple[int, int], scale: float = 1) -> None:
        self.command("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                     deviceScaleFactor=scale, mobile=size[0] < 600)

    def prefers(self, **features: str) -> None:
        """E.g. color_scheme="dark", reduced_motion="reduce"."""
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": f"prefers-{name.replace('_', '-')}", "value": value}
            for name, value in features.items()])

    def open(self, url: str) -> None:
        # A page that differs in its fragment alone would not be loaded again.
        self._driver.get("about:blank")
        self._driver.get(url)

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of `return ...`; scripts of the driver are not held to the page's policy."""
        return self._driver.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        """The text as a reader sees it; empty if nothing of it is on the screen."""
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''",
                        selector).strip()

    def texts(self, selector: str) -> list[str]:
        return self.run("return [...document.querySelectorAll(arguments[0])]"
                        ".filter(e => e.checkVisibility()).map(e => e.innerText)", selector)

    def style(self, selector: str, name: str) -> str:
        return self.run("return getComputedStyle(document.querySelector(arguments[0]))"
                        ".getPropertyValue(arguments[1])", selector, name)

    def click(self, selector: str) -> None:
        from selenium.webdriver.common.by import By
        self._driver.find_element(By.CSS_SELECTOR, selector).click()

    def type(self, selector: str, text: str) -> None:
        from selenium.webdriver.common.by import By
        self._driver.find_element(By.CSS_SELECTOR, selector).send_keys(text)

    def console(self) -> list[str]:
        """What the browser has complained of since the last look."""
        return [entry["message"] for entry in self._driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses that pages have asked for since the last look."""
        events = (json.loads(entry["message"])["message"]
                  for entry in self._driver.get_log("performance"))
        return [event["params"]["request"]["url"] for event in events
                if event["method"] == "Network.requestWillBeSent"]

    def picture(self, whole: bool = True) -> bytes:
        """A picture of the page, or of the window; PNG."""
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=whole, format="png")
        return base64.b64decode(shot["data"])

    def page_height(self) -> int:
        return self.run("return document.documentElement.scrollHeight")
