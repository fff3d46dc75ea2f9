"""A page as a browser reads it: its elements, its texts, its data."""

import json
from html.parser import HTMLParser

import pytest

VOID = {"meta", "link", "img", "br", "input"}


class Page(HTMLParser):
    """Elements in their order, and the texts of some of them."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.structure, self.attributes, self.elements = [], [], [], []
        self.names, self.scripts, self.texts = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag in VOID:
            return
        self.open.append(tag)
        if tag == "bdi":
            self.names.append("")
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, attrs))
        self.structure.append((tag, tuple(name for name, _ in attrs)))
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open[-1:] == ["bdi"]:
            self.names[-1] += data
        if self.open[-1:] == ["script"]:
            self.scripts[-1] += data

    @property
    def data(self):
        return json.loads(self.scripts[0])


@pytest.fixture(scope="session")
def read_page():
    return Page
