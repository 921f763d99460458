"""Downloads that are whole or not there: pooch checks the SHA-256 of a temporary file and gives it its name."""

from __future__ import annotations

from pathlib import Path

# pooch and requests are imported when used: data that are there do without.

CHUNK = 1 << 20  # bytes
ATTEMPTS = 2


class DownloadError(OSError):
    """A file could not be fetched, or what came is not what was published."""


def download(url: str, sha256: str, path: Path, timeout: float = 10.0) -> None:
    """Fetch a file, unless it is there. `path` either ends up with the published content or is left as it was.

    Parameters
    ----------
    url : str
    sha256 : str
        Of the file as published, in hexadecimal.
    path : Path
        Its folder is made where it is missing.
    timeout : float
        Seconds to reach an address of the host, and seconds without a byte after which a transfer is given up.

    Raises
    ------
    DownloadError
        If the host cannot be reached, if the file is cut off or altered twice in a row, or if the
        folder cannot be written to.
    """
    import pooch
    from requests import HTTPError, RequestException
    from requests.exceptions import ChunkedEncodingError

    pooch.get_logger().setLevel("WARNING")  # the progress bar says enough
    # A server that packed the file for the transfer would have it unpacked on arrival, and its SHA-256 changed.
    plain = {"Accept-Encoding": "identity"}
    transfer = pooch.HTTPDownloader(progressbar=True, chunk_size=CHUNK, timeout=timeout, headers=plain)
    failure = ""
    for _ in range(ATTEMPTS):
        try:
            pooch.retrieve(url, f"sha256:{sha256}", path.name, path.parent, downloader=transfer)
            return
        except ChunkedEncodingError as error:
            failure = f"the transfer broke off ({error})"
        # The host says no or says nothing: asking again would only keep an offline user waiting.
        except HTTPError as error:
            status = None if error.response is None else error.response.status_code
            raise DownloadError(f"{url} is refused: HTTP Error {status}") from error
        except RequestException as error:
            raise DownloadError(f"{url} cannot be reached: {error}") from error
        except OSError as error:
            raise DownloadError(f"{url} cannot be stored in {path.parent}: {error}") from error
        except ValueError:
            failure = f"the copy has some other SHA-256 instead of {sha256}"
    raise DownloadError(f"{url}: {failure}, {ATTEMPTS} times in a row")
