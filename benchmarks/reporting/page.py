"""A page as data: sections of paragraphs, tables, figures and commands, for `html` and `markdown` to render.

All text is plain: what looks like HTML or Markdown in a name or in an error is shown as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Notice:
    """What a reader must not miss."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list of short texts."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Lines to be copied as they are, such as commands."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first cell of a row names it.

    Parameters
    ----------
    caption : str
    head : tuple of str
    rows : tuple of tuple of str
    align : str
        A letter a column: "l" for words, "r" for numbers.

    Raises
    ------
    ValueError
        If a row, or `align`, has another length than the head.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    align: str

    def __post_init__(self) -> None:
        lengths = {len(self.head), len(self.align), *map(len, self.rows)}
        if len(lengths) > 1 or set(self.align) - set("lr"):
            raise ValueError(
                f"table {self.caption!r}: head, rows and align must have one cell a column, and align the letters "
                f"l and r, got the lengths {sorted(lengths)} and align={self.align!r}"
            )


@dataclass(frozen=True)
class Figure:
    """An image with what it shows.

    Attributes
    ----------
    name : str
        Of the file.
    png : bytes
    alt : str
        What one sees, in words, for those who do not see it.
    caption : str
    """

    name: str
    png: bytes
    alt: str
    caption: str

    @classmethod
    def read(cls, path: Path, alt: str, caption: str) -> Figure:
        """A figure as `benchmarks.figures` has saved it; the caption, one sentence, goes on to name its numbers."""
        return cls(path.name, path.read_bytes(), alt, f"{caption} The numbers are in {path.stem}.csv.")


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading; `anchor` is what links to it: letters, digits and hyphens."""

    title: str
    anchor: str
    blocks: tuple[Block, ...]

    @property
    def subsections(self) -> list[Section]:
        return [block for block in self.blocks if isinstance(block, Section)]


Block = Paragraph | Notice | Items | Code | Table | Figure | Section


@dataclass(frozen=True)
class Page:
    """A title, what stands before the table of contents, and the sections in it."""

    title: str
    opening: tuple[Block, ...]
    sections: tuple[Section, ...]


def one_line(text: str) -> str:
    """A text without line breaks, and without what cannot be shown (control characters, halves of surrogates)."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
