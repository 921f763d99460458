"""`make docs`: the modules that it documents are there, and pages of them are built."""

import importlib.util
import re
from pathlib import Path

import pytest

MAKEFILE = (Path(__file__).resolve().parents[2] / "Makefile").read_text()
DOCUMENTED = re.search(r"^DOCUMENTED := ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)[1].replace("\\\n", " ").split()


def test_all_documented_modules_are_there():
    assert "btao" in DOCUMENTED
    assert [name for name in DOCUMENTED if importlib.util.find_spec(name) is None] == []


def test_the_pages_of_btao_hold_its_classes_and_what_the_optimizer_inherits(tmp_path):
    pdoc = pytest.importorskip("pdoc", reason="needs the extra 'docs'")
    pdoc.render.configure(docformat="numpy")
    pdoc.pdoc("btao", "btao.interface.telling", output_directory=tmp_path)
    page = (tmp_path / "btao.html").read_text()
    assert all(f'id="{name}"' in page for name in ("BTAO", "BTAO.ask", "Space", "When", "minimize"))
    assert 'href="btao/interface/telling.html#Telling.tell"' in page
    assert 'id="Telling.tell"' in (tmp_path / "btao" / "interface" / "telling.html").read_text()
