"""A page as Markdown with tables, as GitHub and most viewers show it; images are files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from benchmarks.reporting.page import Block, Code, Figure, Items, Notice, Page, Paragraph, Section, Table, one_line

# Outside of words an underscore is emphasis; a bracket makes a link only with what follows it here.
_MARKUP = re.compile(r"[\\`*|#~$]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:])")
_MARKER = re.compile(r"^(\d*)([-+=.)])(?=[\s=-]|$)")  # at the start of a line: a list, or a heading's underline
RULES = {"l": ":---", "r": "---:"}


def render(page: Page, images: str) -> str:
    """The text of the file.

    Parameters
    ----------
    page : Page
    images : str
        The folder of the figures as seen from the file, without a slash at its end.
    """
    blocks = [
        f"# {_text(page.title)}",
        *_blocks(page.opening, 2, images),
        "\n".join(_contents(page.sections)),
        *_blocks(page.sections, 2, images),
    ]
    return "\n\n".join(blocks) + "\n"


def _blocks(blocks: Iterable[Block], level: int, images: str) -> list[str]:
    return [part for block in blocks for part in _block(block, level, images)]


def _block(block: Block, level: int, images: str) -> list[str]:
    match block:
        case Paragraph(text):
            return [_text(text)]
        case Notice(text):
            return [f"> **Notice.** {_text(text)}"]
        case Items(texts):
            return ["\n".join(f"- {_text(text)}" for text in texts)]
        case Code(lines):
            return [_code([one_line(line) for line in lines])]
        case Table():
            return [f"*{_text(block.caption)}*", _table(block)]
        case Figure(name, _, alt, caption):
            return [f"![{_label(alt)}]({images}/{name})", f"*{_text(caption)}*"]
        case Section(title, anchor, inner):
            return [f'<a id="{anchor}"></a>', f"{'#' * level} {_text(title)}", *_blocks(inner, level + 1, images)]


def _code(lines: list[str]) -> str:
    runs = (len(run) for line in lines for run in re.findall("`+", line))
    fence = "`" * max(3, 1 + max(runs, default=0))
    return "\n".join([f"{fence}console", *lines, fence])


def _table(table: Table) -> str:
    rows = [map(_text, table.head), [RULES[letter] for letter in table.align], *(map(_text, row) for row in table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _contents(sections: Iterable[Section], indent: str = "") -> list[str]:
    lines = []
    for section in sections:
        lines.append(f"{indent}- [{_label(section.title)}](#{section.anchor})")
        lines += _contents(section.subsections, indent + "  ")
    return lines


def _text(text: str) -> str:
    plain = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    escaped = _MARKUP.sub(r"\\\g<0>", plain)
    return _MARKER.sub(r"\1\\\2", escaped)


def _label(text: str) -> str:
    """A text that stands in brackets."""
    return re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", _text(text))
