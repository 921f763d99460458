"""Pages as a browser lays them out: headless Chromium, where it is installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
# All but the code of a notebook, whose lines are not broken.
TEXTS = "p, li, td, th, h1, h2, h3, caption, figcaption, pre:not(.jp-InputArea *)"
# Each page is in a frame of its own width. What is too wide may scroll within a box around it.
MEASURE = """
addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, root = page.documentElement;
    const style = box => frame.contentWindow.getComputedStyle(box);
    const scrolls = box => box !== page.body
      && (["auto", "scroll"].includes(style(box).overflowX) || scrolls(box.parentElement));
    const wide = box => box.clientWidth > 0 && box.scrollWidth > box.clientWidth && !scrolls(box);
    return {
      page: frame.title, width: frame.clientWidth, scroll: root.scrollWidth, client: root.clientWidth,
      images: [...page.images].map(image => image.naturalWidth),
      overflowing: [...page.querySelectorAll("TEXTS")].filter(wide).map(box => box.textContent.trim().slice(0, 80)),
    };
  });
  document.getElementById("found").textContent = JSON.stringify(found);
});
""".replace("TEXTS", TEXTS)

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


def layouts(pages: Mapping[str, str], folder: Path, widths: Sequence[int] = (1280, 700)) -> list[dict[str, Any]]:
    """How pages come out at widths in pixels.

    Parameters
    ----------
    pages : mapping
        By name the HTML; nothing is loaded from a network.
    folder : Path
        For the files of the browser.

    Returns
    -------
    list of dict
        One a page and width: page, width; scroll and client, the widths of all that is there and of the window; images,
        the natural width of each, 0 where it does not load; overflowing, the beginnings of the texts that leave their
        box.
    """
    frames = (
        f'<iframe title="{escape(name)}" width="{width}" height="800" srcdoc="{escape(text)}"></iframe>'
        for name, text in pages.items()
        for width in widths
    )
    host = folder / "host.html"
    host.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><style>iframe { border: 0 }</style><pre id="found"></pre>'
        f"<script>{MEASURE}</script>{''.join(frames)}",
        encoding="utf-8",
    )
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", host.as_uri()]
    environment = os.environ | {"HOME": str(folder)}
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment)
    (found,) = re.findall(r'<pre id="found">(.*?)</pre>', run.stdout, re.DOTALL)
    return json.loads(unescape(found))


def assert_laid_out(found: Sequence[Mapping[str, Any]]) -> None:
    """All images load, no text leaves its box, and nothing is wider than the window."""
    for page in found:
        where = f"{page['page']} at {page['width']} pixels"
        assert page["images"] and min(page["images"]) > 0, f"{where}: widths of images {page['images']}"
        assert page["overflowing"] == [], where
        assert page["scroll"] <= page["client"], where
