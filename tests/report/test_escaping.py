"""Whatever columns, values and classes are called, the page shows it as text."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bestk import SelectBestK, select
from bestk.errors import printable
from bestk.report import make_report
from bestk.report.records import MAX_TEXT, format_text

NASTY = [
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "--><!--", "]]>",
    "\" onmouseover='x", "&lt;b&gt; &amp; &#0;", "🙂👩‍👩‍👧", "אבג \u202e txt", "a\tb\nc\r\0\x1b",
    "\u2028\u2029", "\uffff", "${title} $body", "{{x}}", "\\u003c", "",
]  # fmt: skip
texts = st.one_of(st.sampled_from(NASTY), st.text(max_size=12))
rows = np.arange(40)


def report_of(names, levels, classes):
    """The report of a small table whose columns, values and classes have these names."""
    y = np.array(classes, dtype=object)[(rows % 4 == 0).astype(int)]
    frame = pd.DataFrame({
        0: np.array(levels, dtype=object)[rows // 5 % 2], 1: rows * 0.5, 2: rows % 4 + 0.0,
    })  # fmt: skip
    frame.columns = names
    selector = SelectBestK(k=2, method="maxrel", exclude=[1]).fit(frame, y)
    return make_report(selector, frame, y, target=names[0], errors=False, stability=0,
                       notes=[names[1]])  # fmt: skip


@pytest.fixture(scope="module")
def plain(read_page):
    return read_page(report_of(["a", "b", "c"], ["d", "e"], ["f", "g"]).html)


@settings(max_examples=40)
@given(
    names=st.lists(texts, min_size=3, max_size=3, unique=True),
    levels=st.lists(texts, min_size=2, max_size=2, unique=True),
    classes=st.lists(texts, min_size=2, max_size=2, unique=True),
)
@example(NASTY[:3], NASTY[3:5], NASTY[5:7])
@example(NASTY[7:10], NASTY[10:12], NASTY[12:14])
@example(NASTY[12:15], NASTY[:2], ["", " "])
def test_names_change_the_texts_of_a_page_and_nothing_else(
    read_page, plain, names, levels, classes
):
    page = read_page(report_of(names, levels, classes).html)
    assert page.structure == plain.structure
    for text in (names[0], names[2], *levels, *classes):
        assert format_text(text) in page.names
    assert page.data["names"] == [format_text(names[2]), format_text(names[0])]


def test_a_page_says_itself_which_script_and_style_it_may_use(plain):
    (policy,) = (v for _, v in plain.attributes if v and v.startswith("default-src"))
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; img-src data:; "
        r"base-uri 'none'; form-action 'none'",
        policy,
    )
    assert not [name for name, _ in plain.attributes if name.startswith("on") or name == "style"]


@given(text=texts | st.text(st.characters(), max_size=300))
@example("\ud800")
def test_what_is_shown_can_be_written_is_never_empty_and_never_too_long(text):
    seen = format_text(text)
    assert seen.encode("utf-8")
    assert 0 < len(seen) <= MAX_TEXT
    assert not re.search("[\\x00-\\x1f\\x7f-\\x9f]", seen)


def test_a_long_name_is_cut_in_the_middle():
    seen = format_text("a" * 500 + "b" * 500)
    assert len(seen) == MAX_TEXT
    assert re.fullmatch("a+…b+", seen)


@pytest.mark.parametrize("name", NASTY)
def test_a_notebook_shows_names_as_text(read_page, name):
    frame = pd.DataFrame({"x": rows % 2, "y": rows % 3})
    frame.columns = [name, "other"]
    solution = select(frame, rows % 2, k=1, method="maxrel")
    page = read_page(solution._repr_html_())
    assert {tag for tag, _ in page.structure} == {
        "div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "bdi",
    }  # fmt: skip
    assert page.names == [printable(name)]


def test_no_control_of_writing_direction_reaches_the_title():
    controls = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200e\u200f\u061c"
    page = report_of([f"cost{controls}", "b", "c"], ["d", "e"], ["f", "g"]).html
    title = re.search("<title>(.*?)</title>", page)[1]
    assert "cost" in title
    assert not set(controls) & set(title)
