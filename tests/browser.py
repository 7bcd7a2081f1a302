"""A headless Chromium for tests, with its console and every address that a page asks for."""

import json
import shutil

import pytest


class Browser:
    def __init__(self, driver):
        self.driver = driver

    def open(self, path):
        """Shows a file; forgets what earlier pages logged."""
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(path.resolve().as_uri())
        return self

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def console(self):
        """What the page complained about; that a test reads the canvas often is no fault of the page."""
        messages = [entry["message"] for entry in self.driver.get_log("browser")]
        return [message for message in messages if "readback operations using getImageData" not in message]

    def requests(self):
        """The addresses that the page asked for since it was opened, its own and data: left out."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        assert asked, "the log of requests is empty, so it proves nothing"
        return [url for url in asked if not url.startswith(("data:", "file:"))]

    def emulate(self, **media):
        """Another medium ("print"), or colour scheme ("dark")."""
        features = [{"name": "prefers-color-scheme", "value": media.get("scheme", "light")}]
        self.driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"media": media.get("medium", ""), "features": features}
        )

    def width(self, pixels):
        """A window, or a phone, of this width."""
        size = {"width": pixels, "height": 800, "deviceScaleFactor": 1, "mobile": pixels < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("no chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless=new", "--no-sandbox", "--disable-background-networking", "--disable-gpu"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield Browser(driver)
    driver.quit()
