"""Scripted runs start without the accidents of the test before."""

import pytest
from scripted_runs import Script, Square


@pytest.fixture(autouse=True)
def no_accidents(monkeypatch):
    monkeypatch.setattr(Square, "prepared", [])
    monkeypatch.setattr(Square, "evaluated", [])
    monkeypatch.setattr(Square, "accidents", {})
    monkeypatch.setattr(Script, "accidents", {})
