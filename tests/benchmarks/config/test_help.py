"""The help text."""

from __future__ import annotations

from benchmarks.config.help import help_text
from benchmarks.config.registry import choices, document


def test_help_names_every_option_task_and_method():
    text = help_text()
    options = [name for name in document("", "config") if name not in ("defaults", "budget")]
    for name in [*options, "engine.address", "budget.heavy", "budget.iterations", "budget.seconds", "task", "method"]:
        assert f"\n  {name}=" in text
    for name in [*choices("task"), *choices("method")]:
        assert f"\n  {name} " in text or f"\n  {name}\n" in text
    assert "light_per_heavy=2" in text


def test_defaults_in_the_help_are_those_of_the_configuration():
    text = help_text()
    config = document("", "config")
    for name in ("seeds", "scale", "data", "jobs", "threads", "out", "display"):
        assert f"\n  {name}={config[name]} " in text
    assert f"\n  engine={config['engine']['name']} " in text
