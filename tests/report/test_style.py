"""Colours of the page, light and dark: text can be read on what is behind it."""

import re
from importlib.resources import files

import numpy as np
import pytest

from bestk.report.page import COLOURS

TEMPLATES = files("bestk.report").joinpath("templates")
SCRIPT = TEMPLATES.joinpath("heatmap.js").read_text("utf-8")
STYLE = TEMPLATES.joinpath("style.css").read_text("utf-8")
BLOCKS = re.findall(r"--paper:.*?--light:[^;]*;", STYLE, re.DOTALL)
AA = 4.5  # contrast of text, as WCAG asks for
GRAPHICS = 3.0  # of lines and areas


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def colour_map():
    """The 256 colours of the heat map, as its script makes them."""
    places = np.linspace(0, len(COLOURS) - 1, 256)
    channels = [np.interp(places, range(len(COLOURS)), each) for each in np.transpose(COLOURS)]
    return np.stack(channels, axis=1).round().astype(np.uint8)


def test_black_on_white_has_the_largest_contrast():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_the_dark_colours_are_the_same_whether_chosen_or_the_system_s():
    light, *dark = [dict(re.findall(r"--([\w-]+): (#\w+)", block)) for block in BLOCKS]
    assert len(dark) == 2
    assert dark[0] == dark[1]
    assert set(light) == set(dark[0])


@pytest.mark.parametrize("block", BLOCKS)
def test_text_and_lines_stand_out_from_what_is_behind_them(block):
    colours = dict(re.findall(r"--([\w-]+): (#\w+)", block))
    for behind in ("paper", "panel"):
        for text in ("ink", "soft", "link"):
            assert contrast(colours[text], colours[behind]) >= AA, (text, behind)
    for box in ("warn", "bad"):
        assert contrast(colours["ink"], colours[box]) >= AA, box
    for line in ("focus", "warn-line", "bad-line", *(f"c{i}" for i in range(8))):
        assert contrast(colours[line], colours["paper"]) >= GRAPHICS, line
    assert contrast(colours["c0"], colours["light"]) >= GRAPHICS


def test_numbers_on_the_map_are_black_on_bright_colours_and_white_on_dark_ones():
    bright = float(re.search(r"BRIGHT = ([\d.]+)", SCRIPT).group(1))
    for place, (red, green, blue) in zip(np.linspace(0, 1, 256), colour_map(), strict=True):
        text = "#000000" if place > bright else "#ffffff"
        assert contrast(text, f"#{red:02x}{green:02x}{blue:02x}") >= AA, place


def test_colours_rise_in_brightness():
    assert (np.diff((colour_map() @ [0.2126, 0.7152, 0.0722])[::5]) > 0).all()


def test_only_screens_are_dark():
    dark = [STYLE.rfind("@media", 0, at.start()) for at in re.finditer("--paper: #12", STYLE)]
    assert [STYLE[start:].startswith("@media screen") for start in dark] == [True, True]
