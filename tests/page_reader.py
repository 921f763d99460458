"""What a browser, or a viewer of Markdown, would show of a page."""

from __future__ import annotations

from html.parser import HTMLParser

from markdown_it import MarkdownIt

VOID = {"meta", "img", "br", "hr", "input", "link"}


class Reader(HTMLParser):
    """Reads HTML, checks that its tags nest, and collects texts, tables and attributes.

    Attributes
    ----------
    tags : list of (str, dict)
        With their attributes, in order.
    cells : list of str
        Of all tables.
    tables : list of list of list of str
        The rows of each table, its head first.
    texts : list of str
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.tags, self.tables, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("th", "td"):
            self.tables[-1][-1].append("")

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)
        if {"th", "td"} & set(self.open):
            self.tables[-1][-1][-1] += data

    @property
    def cells(self):
        return [cell for table in self.tables for row in table for cell in row]

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def from_markdown(text: str) -> Reader:
    """What a viewer of Markdown makes of it."""
    return Reader(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))
