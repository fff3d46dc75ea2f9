"""HTML that is safe by construction: what is not markup already is escaped on its way in."""

import base64
import json
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from importlib.resources import files
from math import isfinite
from string import Template
from typing import Any

VOID = frozenset({"image", "br", "rect", "circle", "line", "path", "polyline", "polygon"})
IN_SCRIPT = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


class Markup(str):
    """Text that is HTML already."""


def join(parts: Iterable[Any], between: str = "") -> Markup:
    """Markup as it is, all else escaped, one after the other.

    Examples
    --------
    >>> join(["a < b", Markup("<br>")])
    'a &lt; b<br>'
    """
    return Markup(between.join(p if isinstance(p, Markup) else escape(str(p)) for p in parts))


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """An element; names of attributes have ``_`` for ``-``, and those that are None are left out.

    Examples
    --------
    >>> element("td", "<script>", class_="name", data_value='"')
    '<td class="name" data-value="&quot;">&lt;script&gt;</td>'
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in VOID and not children:
        return Markup(f"<{tag}{given}/>")
    return Markup(f"<{tag}{given}>{join(children)}</{tag}>")


def name_of(text: str) -> Markup:
    """A name from the table, kept apart from the direction of the text about it."""
    return element("bdi", text)


def json_block(value: Any) -> str:
    r"""JSON that can stand in a script element: no character in it ends one.

    Examples
    --------
    >>> json_block({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(IN_SCRIPT)


def finite(value: Any) -> Any:
    """The same value, None where a number is not finite."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def page(title: str, body: Markup, data: Any) -> str:
    """A whole page, with its style, its script and its data inside, and a policy that says so."""
    folder = files("bestk.report")
    template, style, *scripts = (
        folder.joinpath(name).read_text("utf-8")
        for name in ("template.html", "style.css", "script.js", "map.js")
    )
    script = "".join(scripts)
    return Template(template).substitute(
        title=escape(title),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        body=body,
        data=json_block(data),
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
