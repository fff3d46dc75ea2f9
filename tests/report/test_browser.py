"""The page in a real browser; skipped where there is none, or no playwright to drive it."""

import shutil

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from bestk import SelectBestK
from bestk.report import write_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SCRIPT = "<script>alert(1)</script>"
QUOTED = "a \"quoted\" 'name' 🙂 אבג"


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :12].rename(columns={"mean radius": SCRIPT, "mean texture": QUOTED})
    y = np.where(y, "benign 'x' \"q\" 🎉", "malignant </script>")
    selector = SelectBestK(k=6, include=[SCRIPT, QUOTED]).fit(X, y)
    write_report(selector, X, y, path, target=SCRIPT)
    return path.as_uri()


@pytest.fixture
def visit(browser, address):
    """Open the page; nothing may go wrong in it while the test runs."""
    contexts, wrong, sent = [], [], []

    def go(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on("request", lambda request: sent.append(request.url))
        page.goto(address)
        return page

    yield go
    for context in contexts:
        context.close()
    assert wrong == []
    assert {url for url in sent if not url.startswith("data:")} == {address}


def column(page, place):
    cells = page.locator(f"#selected table >> nth=0 >> tbody tr > :nth-child({place})")
    return cells.all_inner_texts()


def test_pointing_at_the_heat_map_shows_the_numbers_of_both_features(visit):
    page = visit()
    data = page.evaluate("JSON.parse(document.getElementById('data').textContent)")
    page.locator("#map image").scroll_into_view_if_needed()
    box = page.locator("#map image").bounding_box()
    side = box["width"] / 6
    page.mouse.move(box["x"] + 2.5 * side, box["y"] + 0.5 * side)
    said = page.inner_text("#readout")
    for i in (0, 2):
        assert data["names"][i] in said
        assert f"relevance {data['relevance'][i]:.4f}" in said
    assert f"{data['pairs'][0][2]:.4f} nats" in said
    assert f"the other way {data['pairs'][2][0]:.4f}" in said


def test_the_heat_map_is_read_and_zoomed_by_keys_and_buttons(visit):
    page = visit()
    names = page.evaluate("JSON.parse(document.getElementById('data').textContent).names")
    page.focus("#map")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    said = page.inner_text("#readout")
    assert said.startswith(f"2. {names[1]}")
    whole = page.locator("#map svg").bounding_box()["width"]
    page.keyboard.press("+")
    assert page.locator("#map svg").bounding_box()["width"] == pytest.approx(1.5 * whole)
    page.click("#zoom-in")
    assert page.locator("#map svg").bounding_box()["width"] == pytest.approx(2.25 * whole)
    page.click("#zoom-all")
    assert page.locator("#map svg").bounding_box()["width"] == pytest.approx(whole)


def test_a_table_sorts_by_the_column_whose_head_is_pressed(visit):
    page = visit()
    head = page.locator("#selected th button", has_text="relevance").first
    numbers = [float(text) for text in column(page, 3)]
    head.focus()
    page.keyboard.press("Enter")
    assert [float(text) for text in column(page, 3)] == sorted(numbers, reverse=True)
    head.click()
    assert [float(text) for text in column(page, 3)] == sorted(numbers)
    assert page.locator("#selected th[aria-sort]").first.get_attribute("aria-sort") == "ascending"
    page.locator("#selected th button", has_text="feature").first.click()
    assert sorted(column(page, 1)) == ["1", "2", "3", "4", "5", "6"]


@pytest.mark.parametrize("width", [320, 390, 1200])
def test_the_page_never_scrolls_sideways(visit, width):
    page = visit(viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_names_that_are_code_or_quotes_or_emoji_are_text(visit):
    page = visit()
    names = column(page, 2)
    assert SCRIPT in names
    assert QUOTED in names
    assert page.locator("script").count() == 2
    assert page.inner_text("h1").endswith(SCRIPT)


def test_the_theme_follows_the_system_until_it_is_chosen(visit):
    shade = "getComputedStyle(document.body).backgroundColor"
    dark, light = visit(color_scheme="dark"), visit(color_scheme="light")
    assert dark.evaluate(shade) != light.evaluate(shade)
    assert light.inner_text("#theme") == "Dark colours"
    light.click("#theme")
    assert light.evaluate(shade) == dark.evaluate(shade)
    assert light.inner_text("#theme") == "Light colours"


def test_the_code_is_copied(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.locator("button.copy").first.click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.inner_text("#code")


def test_without_scripts_the_page_tells_the_same(visit):
    page = visit(java_script_enabled=False)
    assert len(column(page, 2)) == 6
    assert page.locator("#map image").is_visible()
    assert not page.locator("#zoom-in").is_visible()
