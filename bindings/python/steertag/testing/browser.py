"""A headless Chromium that opens pages from disk, for tests and for pictures of pages."""

import contextlib
import shutil
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

# Of each wait for a page; a loaded machine starts the browser in some seconds.
LIMIT_S = 60
DRIVER = "chromedriver"
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",  # root has none
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)

# Its `resize` event comes before the callbacks of a frame.
_AFTER_RESIZE = """
const [width, done] = arguments;
const frame = () => requestAnimationFrame(innerWidth === width ? () => requestAnimationFrame(done) : frame);
frame();"""


def is_installed():
    """Whether chromium-driver is there."""
    return shutil.which(DRIVER) is not None


@contextlib.contextmanager
def browsing():
    """A Browser that ends with the context."""
    with tempfile.TemporaryDirectory() as profile:
        options = Options()
        for each in (*_OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(each)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(service=Service(shutil.which(DRIVER)), options=options)
        driver.set_page_load_timeout(LIMIT_S)
        driver.set_script_timeout(LIMIT_S)
        try:
            yield Browser(driver)
        finally:
            driver.quit()


class Browser:
    """One tab. Selectors are those of CSS."""

    def __init__(self, driver):
        self._driver = driver

    def open(self, path, fragment=""):
        """Opens a file anew, whatever is shown, and waits until its script has run."""
        self._driver.get("about:blank")
        self._driver.get_log("browser")  # empties it
        self._driver.get(path.resolve().as_uri() + fragment)

    def await_true(self, expression):
        """Waits until a JavaScript expression holds."""
        message = f"{expression} stays false"
        WebDriverWait(self._driver, LIMIT_S, 0.02).until(lambda _: self.value(expression), message)

    def value(self, expression):
        """The value of a JavaScript expression."""
        return self._driver.execute_script(f"return ({expression});")

    def one(self, selector):
        return self._driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self._driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return [each.text for each in self.all(selector)]

    def press(self, *keys):
        """Keys for whatever has the focus: texts, or names as "ENTER"."""
        for key in keys:
            self._driver.switch_to.active_element.send_keys(getattr(Keys, key, key))

    def choose(self, name, text):
        """Chooses the option that says this of the <select> with this name."""
        self._driver.execute_script(
            """const [name, text] = arguments, select = document.querySelector(`select[name=${name}]`);
            select.selectedIndex = [...select.options].findIndex((each) => each.text === text);
            if (select.selectedIndex < 0) throw new Error(`${name} has no choice ${text}`);
            select.dispatchEvent(new Event("input", {bubbles: true}));""",
            name,
            text,
        )

    def problems(self):
        """What the page has complained about: errors, and violations of its content security policy."""
        return [each["message"] for each in self._driver.get_log("browser")]

    def resize(self, width, height):
        """The size of the page in pixels. Waits until the page has drawn what depends on it."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self._driver.execute_async_script(_AFTER_RESIZE, width)

    def scheme(self, name):
        """Whether the user prefers a "light" or a "dark" page."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def picture(self, element=None):
        """A PNG of what is shown, or of an element that is no larger."""
        if element is None:
            return self._driver.get_screenshot_as_png()
        self._driver.execute_script("arguments[0].scrollIntoView({block: 'start'})", element)
        return element.screenshot_as_png
