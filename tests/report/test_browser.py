"""The page in a real browser; skipped where there is none, or no playwright to drive it."""

import shutil

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from bestk import SelectBestK
from bestk.report import make_report

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
    make_report(selector, X, y, target=SCRIPT).save(path)
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


def data_of(page):
    return page.evaluate("JSON.parse(document.getElementById('data').textContent)")


def corner(page):
    """Where on the screen the first cell begins, and how wide all that are seen are."""
    page.locator("#map").scroll_into_view_if_needed()
    box, view = page.locator("#map svg").first.bounding_box(), page.locator("#map .view")
    left, top, wide = (float(view.get_attribute(name)) for name in ("x", "y", "width"))
    return box["x"] + left, box["y"] + top, wide


def point(page, row, column):
    """Move the pointer to the middle of a cell."""
    left, top, wide = corner(page)
    page.mouse.move(left + (column + 0.5) * wide / 6, top + (row + 0.5) * wide / 6)


def test_pointing_at_the_heat_map_shows_the_numbers_of_both_features(visit):
    page = visit()
    data = data_of(page)
    point(page, 0, 2)
    said = page.inner_text("#readout")
    for i in (0, 2):
        assert data["names"][i] in said
        assert f"relevance {data['relevance'][i]:.4f}" in said
        assert f"new information {data['new_information'][i]:.4f}" in said
    assert f"{data['pairs'][0][2]:.4f} nats" in said
    assert f"in the other direction {data['pairs'][2][0]:.4f}" in said
    point(page, 3, 3)
    assert f"{data['relevance'][3]:.4f} nats: relevance of" in page.inner_text("#readout")


def test_the_heat_map_is_read_by_keys(visit):
    page = visit()
    names = data_of(page)["names"]
    page.focus("#map")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert f"relevance of {names[1]}" in page.inner_text("#readout")
    page.keyboard.press("End")
    assert f"{names[5]} adds to {names[1]}" in page.inner_text("#readout")
    page.keyboard.press("PageDown")
    assert f"relevance of {names[5]}" in page.inner_text("#readout")


def test_a_table_sorts_by_the_column_whose_head_is_pressed(visit):
    page = visit()
    head = page.locator("#selected th button", has_text="relevance").first
    numbers = [float(text) for text in column(page, 5)]
    head.focus()
    page.keyboard.press("Enter")
    assert [float(text) for text in column(page, 5)] == sorted(numbers, reverse=True)
    head.click()
    assert [float(text) for text in column(page, 5)] == sorted(numbers)
    assert page.locator("#selected th[aria-sort]").first.get_attribute("aria-sort") == "ascending"
    page.locator("#selected th button", has_text="feature").first.click()
    assert sorted(column(page, 1)) == ["1", "2", "3", "4", "5", "6"]


@pytest.mark.parametrize("width", [320, 390, 1200])
def test_the_page_never_scrolls_sideways(visit, width):
    page = visit(viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cut = """[...document.querySelectorAll('.wide, .map, pre')]
        .filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.ariaLabel)"""
    assert page.evaluate(cut) == []


def test_on_a_phone_every_feature_is_a_card_with_its_drawing(visit):
    page = visit(viewport={"width": 390, "height": 800})
    cards = page.locator("#selected table >> nth=0 >> tbody tr")
    assert cards.count() == 6
    for box in (cards.nth(i).bounding_box() for i in range(6)):
        assert box["x"] + box["width"] <= 390
    drawn = cards.first.locator(".thumb rect").all()
    assert len(drawn) == 8
    assert sum(each.bounding_box()["width"] for each in drawn) > 250
    head = (
        "getComputedStyle(document.querySelector('#selected td:nth-child(5)'), '::before').content"
    )
    assert page.evaluate(head) == '"relevance: "'


def test_names_that_are_code_or_quotes_or_emoji_are_text(visit):
    page = visit()
    names = column(page, 2)
    assert SCRIPT in names
    assert QUOTED in names
    assert page.locator("script").count() == 2
    assert f"6 of 12 features predict {SCRIPT}: AUC 0." in page.inner_text("h1")


def test_the_theme_follows_the_system_until_it_is_chosen(visit):
    shade = "getComputedStyle(document.body).backgroundColor"
    dark, light = visit(color_scheme="dark"), visit(color_scheme="light")
    assert dark.evaluate(shade) != light.evaluate(shade)
    assert light.inner_text("#theme") == "Dark mode"
    light.click("#theme")
    assert light.evaluate(shade) == dark.evaluate(shade)
    assert light.inner_text("#theme") == "Light mode"


def test_the_code_is_copied(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    page.locator("button.copy").first.click()
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.inner_text("#code")


def test_without_scripts_the_tables_have_the_numbers(visit):
    page = visit(java_script_enabled=False)
    assert len(column(page, 2)) == 6
    assert page.get_by_text("The heat map needs JavaScript").is_visible()
    assert page.locator("#pairs table >> nth=1 >> tbody tr:visible").count() == 6
    assert page.locator("#selected .thumb:visible").count() == 6
    assert not page.locator("#map").is_visible()


@pytest.mark.parametrize("width", [390, 1200])
def test_text_in_drawings_is_never_small_and_never_cut(visit, width):
    page = visit(viewport={"width": width, "height": 800})
    sizes = page.evaluate("""[...document.querySelectorAll('svg text')].map((text) => {
        const box = text.getBoundingClientRect(), own = text.getBBox();
        const scale = box.height / own.height, size = parseFloat(getComputedStyle(text).fontSize);
        return [scale * size, box.left, box.right];
    })""")
    assert len(sizes) > 20
    assert min(size for size, _, _ in sizes) >= 12
    assert min(left for _, left, _ in sizes) >= 0
    assert max(right for _, _, right in sizes) <= width


def test_the_list_of_columns_is_searched(visit):
    page = visit()
    page.locator("summary", has_text="All 12 columns").click()
    page.fill("#search", "AREA")
    names = page.locator("#columns tbody tr:visible th").all_inner_texts()
    assert names == ["mean area"]
    assert page.inner_text("#found") == "1 of 12 columns"
    page.fill("#search", "")
    assert page.locator("#columns tbody tr:visible").count() == 12


def test_paper_is_white_and_has_what_is_folded(visit):
    page = visit(color_scheme="dark")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    folded = "document.querySelectorAll('details:not([open], .screen)').length"
    assert page.evaluate(folded) > 5
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(folded) == 0
    page.set_viewport_size({"width": 700, "height": 990})  # A4 without its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(folded) > 5


def test_every_control_is_reached_by_the_tab_key_and_has_a_name(visit):
    page = visit()
    controls = page.locator("button:visible, select:visible, a:visible, #map, .wide:visible")
    reached = set()
    for _ in range(controls.count() + 20):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("""(() => { const on = document.activeElement;
            return on.id || on.getAttribute('aria-label') || on.textContent; })()""")
        )
    for wanted in ("theme", "map", "Warnings", "Copy the code",
                   "Selected features; information in nats"):  # fmt: skip
        assert wanted in reached


def test_the_names_of_fifty_features_are_all_on_the_heat_map(browser, tmp_path):
    X, y = load_digits(return_X_y=True, as_frame=True)
    selector = SelectBestK(k=50, method="maxrel").fit(X, y)
    make_report(selector, X, y, errors=False, stability=0).save(tmp_path / "many.html")
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto((tmp_path / "many.html").as_uri())
    names = page.locator("#map .labels text", has_text=". pixel")
    tops = [each.bounding_box()["y"] for each in names.all()]
    assert len(tops) == 50
    assert np.diff(sorted(tops)).min() >= 13  # no name is on another
    page.close()


def test_a_notebook_shows_the_page_in_a_frame_that_works(browser, tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    shown = make_report(SelectBestK(k=3).fit(X, y), X, y, errors=False)._repr_html_()
    (tmp_path / "cell.html").write_text(f"<!DOCTYPE html><body>{shown}</body>", "utf-8")
    page = browser.new_page()
    wrong = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto((tmp_path / "cell.html").as_uri())
    frame = page.frames[1]
    frame.locator("#map").focus()
    page.keyboard.press("ArrowRight")
    assert "relevance of" in frame.locator("#readout").inner_text()
    assert wrong == []
    page.close()
