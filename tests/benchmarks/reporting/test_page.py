"""Pages: both renderings say the same, text stays text, and the HTML needs nothing else."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reporting import html as page_html
from benchmarks.reporting import markdown as page_markdown
from benchmarks.reporting.page import Code, Figure, Items, Notice, Page, Paragraph, Section, Table, one_line
from page_reader import Reader, from_markdown

NASTY = [
    "<script>alert(1)</script> & <b>",
    'a "quoted" | cell | of \\| a table',
    "*stars* _lines_ __init__ `ticks` ``` ~~gone~~ $x$ # head",
    "[link](https://example.org) ![image](x.png) [ref]: <a>",
    "- item",
    "1. item",
    "2) item",
    "===",
    "---",
    "> quote",
    "&amp; &lt;",
    "a\nb\x1b[31mred\ud800",
    "btao [4a2f], random_search [95% interval]",
    "C:\\path\\`",
]


def page(*blocks, title="Title", opening=()):
    return Page(title, opening, (Section("First", "first", blocks),))


def table(text):
    return Table(text, (text, "number"), ((text, "1"), ("plain", text)), "lr")


@pytest.mark.parametrize("text", NASTY)
def test_text_stays_text_in_both_renderings(text):
    shown = one_line(text)
    inner = Section(text, "inner", (Paragraph(text), Items((text, "b")), Code((text,)), table(text), Notice(text)))
    figure = Figure("f.png", b"png", text, text)
    whole = page(inner, figure, title=text)
    for read in (Reader(page_html.render(whole)), from_markdown(page_markdown.render(whole, "images"))):
        assert read.cells == [shown, "number", shown, "1", "plain", shown]
        assert shown in [part.strip() for part in "".join(read.texts).splitlines()]
        assert "".join(read.texts).count(shown) >= 10
        assert not read.named("script") and not read.named("b") and not read.named("del")
        assert {link["href"] for link in read.named("a") if "href" in link} == {"#first", "#inner"}
        (image,) = read.named("img")
        assert image["alt"] == shown


@given(st.text(max_size=30))
def test_any_text_is_one_cell(text):
    whole = page(Table("t", ("head",), ((text,), ("last",)), "l"))
    expected = ["head", one_line(text), "last"]
    assert Reader(page_html.render(whole)).cells == expected
    assert from_markdown(page_markdown.render(whole, "images")).cells == expected


def test_the_html_needs_nothing_else():
    png = b"\x89PNG not really"
    text = page_html.render(page(Figure("f.png", png, "what one sees", "caption")))
    read = Reader(text)
    (image,) = read.named("img")
    assert image == {"src": f"data:image/png;base64,{base64.b64encode(png).decode()}", "alt": "what one sees"}
    assert not read.named("script") and not read.named("link")
    assert "url(" not in text and "@import" not in text and "http://" not in text and "https://" not in text
    policy = next(meta["content"] for meta in read.named("meta") if "http-equiv" in meta)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert read.named("html") == [{"lang": "en"}]


def test_heads_levels_and_links():
    inner = Section("Inner", "first-inner", (table("x"),))
    whole = Page("Title", (Notice("loud"),), (Section("First", "first", (inner,)), Section("Second", "second", ())))
    html, markdown = page_html.render(whole), page_markdown.render(whole, "images")
    assert re.findall(r"<h(\d)[^>]*>([^<]*)", html) == [("1", "Title"), ("2", "First"), ("3", "Inner"), ("2", "Second")]
    assert re.findall(r"^(#+) (.*)$", markdown, re.M) == [
        ("#", "Title"),
        ("##", "First"),
        ("###", "Inner"),
        ("##", "Second"),
    ]
    read = Reader(html)
    ids = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert ids == ["first", "first-inner", "second"]
    assert [link["href"][1:] for link in read.named("a")] == ids
    assert [link.get("href", "")[1:] for link in from_markdown(markdown).named("a") if "href" in link] == ids
    heads = [(head["scope"], head.get("class")) for head in read.named("th")]
    assert heads == [("col", None), ("col", "number"), ("row", None), ("row", None)]
    (notice,) = [attributes for attributes in read.named("p") if "role" in attributes]
    assert notice == {"class": "notice", "role": "note"} and "Notice. loud" in "".join(read.texts)


@pytest.mark.parametrize(("rows", "align"), [((("a",),), "lr"), ((("a", "b"),), "l"), ((("a", "b"),), "lx")])
def test_a_table_that_is_none_is_refused(rows, align):
    with pytest.raises(ValueError, match="table 'c': head, rows and align must have one cell a column"):
        Table("c", ("x", "y"), rows, align)
