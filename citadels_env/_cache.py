"""Compiled code on disk: where it is kept, for whom, and for how long.

A version is a folder named by all that decides what the compiler makes: the sources, Python, Numba, its flags.
In it each compiled function has, for each signature and processor, an index (.nbi, JSON: what it is) and the code (.nbc,
behind its checksum).  Files are written beside their place and moved into it, and all that write one write equally good
code, so a reader never meets half an entry.  Whatever goes wrong is reported once and costs a compilation, never a run.

The code is unpickled when it is loaded: a cache folder must be as trusted as the library itself.
"""

import json
import logging
import os
import re
import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from numba.core import config
from platformdirs import user_cache_path

KEPT_DAYS = 30  # a version that nobody used for so long is removed
DAY = 86400.0
LONGEST_WAIT = 600.0  # seconds to wait for another process that compiles the same function

_CHECKSUM = 32  # bytes
_VERSION = "version.json"  # what the version is made of; its time is that of the last use
_VERSION_NAME = re.compile("[0-9a-f]{16}")
_CACHE_FILE = re.compile(r"version\.json|.+\.(nbi|nbc)|.+-[0-9a-f]{16}\.lock.*|.+\.(nbi|nbc|json)\.(tmp\.)?[0-9a-f]+(\.tmp)?")

log = logging.getLogger("citadels_env")
if log.level == logging.NOTSET:
    log.setLevel(logging.INFO)  # announcements reach the handlers of the program; setLevel(logging.WARNING) turns them off
REPORTED: dict[str, str] = {}  # the warnings of this process, by kind
_touched: set[Path] = set()


def report(kind: str, text: str) -> None:
    """Warn of something that costs compilations but no run, once of each kind.

    By logging, not by `warnings`: a filter that makes errors of warnings must not stop a game.
    """
    if kind not in REPORTED:
        REPORTED[kind] = text
        with suppress(Exception):
            log.warning("citadels: %s", text)


def say(text: str) -> None:
    """Tell the user: through logging where the program has set it up, otherwise on stderr."""
    with suppress(Exception):
        if log.hasHandlers():
            log.info("citadels: %s", text)
        elif log.isEnabledFor(logging.INFO) and sys.stderr is not None:
            print(f"citadels: {text}", file=sys.stderr, flush=True)


def _folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where compiled code is looked for and kept: the first folder that can be used.

    Those the user named, and only those; otherwise the user's cache directory or, where that cannot be
    written, the virtual environment.  Never the folder of the sources.
    """
    wanted = []
    if environment.get("CITADELS_CACHE_DIR"):
        wanted.append(Path(environment["CITADELS_CACHE_DIR"]).expanduser())
    if config.CACHE_DIR:  # NUMBA_CACHE_DIR
        wanted.append(Path(config.CACHE_DIR) / "citadels_env")
    if not wanted:
        wanted.append(user_cache_path("citadels_env"))
        if sys.prefix != sys.base_prefix:
            wanted.append(Path(sys.prefix) / ".cache" / "citadels_env")
        wanted = [folder for folder in wanted if folder.is_absolute()]  # an account without a home gives ~/.cache as it stands
    return tuple(folder.absolute() for folder in wanted)


try:
    FOLDERS = _folders(os.environ)  # once: a relative name means the folder the program was started in
except Exception as error:  # there is no current folder, or no account
    FOLDERS = ()
    report("folders", f"there is no folder for compiled code ({error}); set CITADELS_CACHE_DIR")


# --- entries ------------------------------------------------------------------


def load(version: str, name: str, key: str) -> bytes | None:
    """The code kept under `name` for `key`; None where there is none, or none that is whole."""
    for folder in FOLDERS:
        place = folder / version
        try:
            index = json.loads((place / f"{name}.nbi").read_bytes())
            content = (place / f"{name}.nbc").read_bytes()
            data = content[_CHECKSUM:]
            if index["key"] != key or content[:_CHECKSUM] != _checksum(key, data):
                raise ValueError("wrong checksum")
        except (FileNotFoundError, NotADirectoryError):
            continue
        except Exception as error:
            report(f"damaged {place / name}", f"the compiled code in {place / name}.nbc cannot be used ({error}); compiling anew")
            continue
        _touch(folder, place)
        return data
    return None


def save(version: str, description: Mapping[str, Any], name: str, key: str, data: bytes, about: Mapping[str, Any]) -> bool:
    """Keep code under `name` for `key`, in the first folder where that is possible."""
    index = json.dumps({**about, "key": key}, indent=1).encode()
    problems = []
    for folder in FOLDERS:
        place = folder / version
        try:
            place.mkdir(parents=True, exist_ok=True)
            new = _describe(place, description)
            _write(place / f"{name}.nbc", _checksum(key, data) + data)
            _write(place / f"{name}.nbi", index)
        except OSError as error:
            problems.append(f"{folder}: {error.strerror or error}")
            continue
        _touch(folder, place, new)
        return True
    where = "; ".join(problems) or "no folder"
    report(
        "save",
        f"compiled code cannot be kept, the next start compiles again; set CITADELS_CACHE_DIR to a folder that can be written ({where})",
    )
    return False


def _checksum(key: str, data: bytes) -> bytes:
    return sha256(key.encode() + data).digest()


def _describe(place: Path, description: Mapping[str, Any]) -> bool:
    """Write down what a version is made of; is it a new one?"""
    if (place / _VERSION).exists():
        return False
    _write(place / _VERSION, json.dumps(description, indent=1).encode())
    return True


def _write(path: Path, content: bytes) -> None:
    """Write a file so that it is never there by half."""
    fresh = path.with_name(f"{path.name}.{uuid4().hex[:12]}.tmp")
    try:
        fresh.write_bytes(content)
        fresh.replace(path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


def lock(version: str, name: str) -> Any:
    """The lock of one who compiles: waits for another process that compiles the same; None where nothing can be locked.

    It saves the others a compilation; entries are whole without it.
    """
    for folder in FOLDERS:
        place = folder / version
        try:
            place.mkdir(parents=True, exist_ok=True)
            from filelock import FileLock, Timeout  # as slow to import as the rest of the library

            guard = FileLock(place / f"{name}.lock")
            try:
                guard.acquire(timeout=0)
            except Timeout:
                say(f"another process is compiling {name.rpartition('-')[0]}; waiting for it ...")
                guard.acquire(timeout=LONGEST_WAIT, poll_interval=0.1)
            return guard
        except Exception:  # a folder that cannot be written, a file system without locks, a process that hangs
            continue
    return None


def writable(folder: Path) -> bool:
    """Could code be kept in a folder?  Nothing is written to find out."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


# --- versions -----------------------------------------------------------------


@dataclass(frozen=True)
class KeptVersion:
    """A version on disk: what it was compiled from and with (None: written by an older release), size in bytes, last use in seconds."""

    path: Path
    description: dict[str, Any] | None
    entries: int
    size: int
    used: float


def kept() -> list[KeptVersion]:
    """The versions on disk, the last used first."""
    found = [version for folder in FOLDERS for version in _versions_in(folder)]
    return sorted(found, key=lambda version: -version.used)


def _versions_in(folder: Path) -> list[KeptVersion]:
    try:
        places = [place for place in folder.iterdir() if _VERSION_NAME.fullmatch(place.name) and not place.is_symlink()]
    except OSError:
        return []
    return [version for place in places if (version := _look_at(place)) is not None]


def _look_at(place: Path) -> KeptVersion | None:
    """What a folder holds; None if there is anything in it that is no cache file: then it is not ours."""
    entries, size, newest, used = 0, 0, 0.0, 0.0
    description = None
    try:
        newest = place.stat().st_mtime
        for root, _, files in os.walk(place):
            for name in files:
                if not _CACHE_FILE.fullmatch(name):
                    return None
                with suppress(FileNotFoundError):  # just removed by somebody else
                    status = (Path(root) / name).stat()
                    size += status.st_size
                    newest = max(newest, status.st_mtime)
                    entries += name.endswith(".nbi")
                    if name == _VERSION:
                        used = status.st_mtime
        with suppress(OSError, ValueError):
            description = json.loads((place / _VERSION).read_bytes())
    except OSError:
        return None
    return KeptVersion(place, description if isinstance(description, dict) else None, entries, size, used or newest)


def remove(version: KeptVersion) -> bool:
    """Remove a version from disk; whoever uses it at this moment compiles again.  False if it cannot be removed."""
    aside = version.path.with_name(f"{version.path.name}.{uuid4().hex[:12]}.removed")
    try:
        version.path.rename(aside)  # at once, so that nobody meets half a version
    except OSError:
        return False
    shutil.rmtree(aside, ignore_errors=True)
    return not aside.exists()


def _touch(folder: Path, place: Path, new: bool = False) -> None:
    """Note that a version is used, once a day, and remove those of the same folder that nobody uses any more."""
    if place in _touched and not new:
        return
    _touched.add(place)
    with suppress(Exception):
        stamp, now = place / _VERSION, time.time()
        if not new and now - stamp.stat().st_mtime < DAY:
            return
        os.utime(stamp)
        for leftover in folder.glob("*.removed"):  # of a removal that was interrupted
            if _VERSION_NAME.fullmatch(leftover.name.split(".")[0]):
                shutil.rmtree(leftover, ignore_errors=True)
        for version in _versions_in(folder):
            if version.path != place and now - version.used > KEPT_DAYS * DAY:
                remove(version)
