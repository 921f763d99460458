"""Downloads that are whole or not there: temporary file, SHA-256, atomic rename."""

from __future__ import annotations

import hashlib
import http.client
import os
import queue
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

CHUNK = 1 << 20  # bytes
ATTEMPTS = 2


class DownloadError(OSError):
    """A file could not be fetched, or what came is not what was published."""


def download(url: str, sha256: str, path: Path, timeout: float = 10.0) -> None:
    """Fetch a file. `path` either ends up with the published content or is left as it was.

    Parameters
    ----------
    url : str
    sha256 : str
        Of the file as published, in hexadecimal.
    path : Path
        Its folder is made where it is missing.
    timeout : float
        Seconds to reach the host, and seconds without a byte after which a transfer is given up.

    Raises
    ------
    DownloadError
        If the host cannot be reached, if the file is cut off or altered twice in a row, or if the
        folder cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(ATTEMPTS):
            failure = _attempt(url, sha256, path, timeout)
            if failure is None:
                return
    except urllib.error.URLError as error:
        # The host says no or says nothing: asking again would only keep an offline user waiting.
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it is a response, too
            raise DownloadError(f"{url} is refused: {error}") from error
        raise DownloadError(f"{url} cannot be reached: {error.reason}") from error
    except OSError as error:
        raise DownloadError(f"{url} cannot be stored in {path.parent}: {error}") from error
    raise DownloadError(f"{url}: {failure}, {ATTEMPTS} times in a row")


def _attempt(url: str, sha256: str, path: Path, timeout: float) -> str | None:
    """One transfer; what was wrong with the copy that came, or None if it is in its place."""
    with _connect(url, timeout) as response:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                try:
                    digest = _copy(response, file, path.name)
                except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
                    return f"the transfer broke off ({error!r})"
            if digest != sha256:
                return f"the copy has SHA-256 {digest} instead of {sha256}"
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    return None


def _connect(url: str, timeout: float) -> Any:
    """An open response. `urlopen` tries the addresses of a host one by one, each for `timeout`; here it bounds all."""
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def connect() -> None:
        try:
            answers.put(urllib.request.urlopen(url, timeout=timeout))
        except Exception as error:  # handed over to the caller's thread
            answers.put(error)

    threading.Thread(target=connect, daemon=True).start()
    try:
        answer = answers.get(timeout=timeout)
    except queue.Empty:
        raise urllib.error.URLError(f"no answer within {timeout:g} s") from None
    if isinstance(answer, urllib.error.URLError):
        raise answer
    if isinstance(answer, Exception):
        raise urllib.error.URLError(repr(answer)) from answer
    return answer


def _copy(response: Any, file: Any, description: str) -> str:
    """Copy a response to an open file, with a progress bar on stderr; the SHA-256 of what came."""
    from rich.console import Console
    from rich.progress import wrap_file

    digest = hashlib.sha256()
    total = int(response.headers.get("Content-Length") or 0)
    with wrap_file(response, total, description=f"Downloading {description}", console=Console(stderr=True)) as source:
        while chunk := source.read(CHUNK):
            file.write(chunk)
            digest.update(chunk)
    return digest.hexdigest()
