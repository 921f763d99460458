"""What decides the outcome of a run, and the hash that names its folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def digest_of(identity: Mapping[str, Any]) -> str:
    """Ten hexadecimal digits of the SHA-256 of an identity, which is data that strict JSON can hold."""
    text = json.dumps(identity, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:10]
