"""A page as one HTML file that needs nothing else: styles inline, images as data URIs, no script, no network."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape

from benchmarks.reporting.page import Block, Code, Figure, Items, Notice, Page, Paragraph, Section, Table, one_line

# The policy makes a browser refuse whatever would be loaded from elsewhere, should something ever name it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLE = """\
:root { color-scheme: light; }
body { margin: 0 auto; padding: 1rem 1.25rem 4rem; max-width: 62rem; background: #fff; color: #1a1a1a;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1, h2, h3 { line-height: 1.25; margin: 2.2rem 0 0.6rem; }
h1 { margin-top: 1rem; }
h2 { border-bottom: 1px solid #bbb; padding-bottom: 0.2rem; }
p, li { max-width: 46rem; }
a { color: #0050a0; }
nav { border: 1px solid #bbb; padding: 0.2rem 1rem; margin: 1.2rem 0; }
nav ul { padding-left: 1.2rem; }
.notice { border-left: 0.4rem solid #b00020; background: #fdecee; padding: 0.6rem 1rem; margin: 0.8rem 0; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: 0.4rem; color: #444; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid #ccc; text-align: left; vertical-align: top;
  font-weight: normal; }
thead th { font-weight: bold; border-bottom: 2px solid #555; vertical-align: bottom; }
.number { text-align: right; white-space: nowrap; }
thead .number { white-space: normal; }
pre { background: #f4f4f4; padding: 0.6rem 0.8rem; font-size: 0.8125rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
figure { margin: 1.2rem 0; }
img { max-width: 100%; height: auto; }
figcaption { color: #444; font-size: 0.875rem; max-width: 46rem; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav a, a { color: inherit; text-decoration: none; }
  .wide { overflow: visible; }
  table, pre, figcaption { font-size: 8pt; }
  caption { break-after: avoid; }
  td { overflow-wrap: anywhere; }
  h2, h3 { break-after: avoid; }
  figure, tr, .notice { break-inside: avoid; }
  .notice { border: 2pt solid #000; background: none; }
}
"""


def render(page: Page) -> str:
    """The text of the file."""
    title = _text(page.title)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>",
            f"<style>\n{STYLE}</style>",
            "</head>",
            "<body>",
            "<main>",
            f"<h1>{title}</h1>",
            *_blocks(page.opening, level=2),
            '<nav aria-label="Contents">',
            *_contents(page.sections),
            "</nav>",
            *_blocks(page.sections, level=2),
            "</main>",
            "</body>",
            "</html>\n",
        ]
    )


def fragment(blocks: Iterable[Block]) -> str:
    """Blocks alone, to be shown in a page that is there, as a notebook is."""
    return "\n".join(_blocks(blocks, level=3))


def _blocks(blocks: Iterable[Block], level: int) -> list[str]:
    return [line for block in blocks for line in _block(block, level)]


def _block(block: Block, level: int) -> list[str]:
    match block:
        case Paragraph(text):
            return [f"<p>{_text(text)}</p>"]
        case Notice(text):
            return [f'<p class="notice" role="note"><strong>Notice.</strong> {_text(text)}</p>']
        case Items(texts):
            return ["<ul>", *(f"<li>{_text(text)}</li>" for text in texts), "</ul>"]
        case Code(lines):
            return ["<pre><code>" + escape("\n".join(map(one_line, lines))) + "</code></pre>"]
        case Table():
            return _table(block)
        case Figure():
            return _figure(block)
        case Section(title, anchor, inner):
            head = f'<h{level} id="{anchor}">{_text(title)}</h{level}>'
            return [f'<section aria-labelledby="{anchor}">', head, *_blocks(inner, level + 1), "</section>"]


def _table(table: Table) -> list[str]:
    classes = ["" if letter == "l" else ' class="number"' for letter in table.align]
    caption = _text(table.caption)
    lines = [f'<div class="wide" role="region" tabindex="0" aria-label="{caption}">', "<table>"]
    lines += [f"<caption>{caption}</caption>", "<thead>", "<tr>"]
    lines += [f'<th scope="col"{kind}>{_text(cell)}</th>' for kind, cell in zip(classes, table.head, strict=True)]
    lines += ["</tr>", "</thead>", "<tbody>"]
    for row in table.rows:
        name, *cells = (_text(cell) for cell in row)
        data = (f"<td{kind}>{cell}</td>" for kind, cell in zip(classes[1:], cells, strict=True))
        lines.append("".join(["<tr>", f'<th scope="row"{classes[0]}>{name}</th>', *data, "</tr>"]))
    return [*lines, "</tbody>", "</table>", "</div>"]


def _figure(figure: Figure) -> list[str]:
    source = f"data:image/png;base64,{base64.b64encode(figure.png).decode()}"
    image = f'<img src="{source}" alt="{_text(figure.alt)}">'
    return ["<figure>", image, f"<figcaption>{_text(figure.caption)}</figcaption>", "</figure>"]


def _contents(sections: Iterable[Section]) -> list[str]:
    lines = ["<ul>"]
    for section in sections:
        inner = _contents(section.subsections) if section.subsections else []
        lines += [f'<li><a href="#{section.anchor}">{_text(section.title)}</a>', *inner, "</li>"]
    return [*lines, "</ul>"]


def _text(text: str) -> str:
    return escape(one_line(text))
