"""Folders of results: each belongs to one set of parameters and has one writer at a time, and what was changed in it is noticed.

``manifest.json`` holds the parameters.  What is kept as it comes stands in files that grow by whole lines (`Lines`).  Every line ends
with a checksum of its text, its number and the parameters, so a line that was edited, moved, doubled, left out or taken from another
folder is refused by name.  Only a last line that an interruption cut short is removed without a word, and what it held is made again.

A folder that cannot be used raises `FolderError`, which says in one line which file, which line and why.
"""

import json
import os
import platform
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from citadels_env.errors import CitadelsError

LOCK, MANIFEST = ".lock", "manifest.json"
LONGEST_NAME = 60  # characters of a default folder's name before its checksum


class FolderError(CitadelsError):
    """A folder of results that cannot be used: it belongs to others, is being written, cannot be written, or was changed."""


# --- one writer ----------------------------------------------------------------

_held: dict[Path, "Writer"] = {}  # the locks of this process
_guard = threading.RLock()


class Writer:
    """The right to write what `lock` stands for: a context manager, held until `release`.

    The thread that holds it may take it again.  The lock is `filelock`'s: the operating system gives it back however the process
    ends, and it holds between machines wherever the file system's own locks (flock) do.  FolderError, which names the process,
    if somebody else holds it.
    """

    _process: int
    _thread: int
    _times: int

    def __init__(self, lock: Path, about: str) -> None:
        self.path, self.about = lock.absolute(), about
        with _guard:
            holder = _held.get(self.path)
            if holder is None or holder._process != os.getpid():  # a fork of the process that holds it does not
                self._lock = FileLock(self.path, timeout=0, thread_local=False)
                self._acquire()
                self._process, self._thread, self._times = os.getpid(), threading.get_ident(), 1
                _held[self.path] = self
            elif holder._thread != threading.get_ident():
                raise FolderError(f"{about} is being written by another thread of this process; wait for it, or choose another folder")
            else:
                holder._times += 1
        self._released = False

    def _acquire(self) -> None:
        before = self._holder()
        try:
            self._lock.acquire()
        except Timeout:
            who = self._holder() or before or "another process"
            raise FolderError(f"{self.about} is being written by {who}; wait for it, or choose another folder") from None
        except (OSError, NotImplementedError) as error:
            raise FolderError(f"{self.about} cannot be written: {_reason(error)} ({self.path.name})") from error
        try:
            text = self.path.read_text(encoding="utf-8", errors="replace")
            if not text or text.startswith("process "):  # else filelock's own note, where the file system has no locks
                self.path.write_text(f"process {os.getpid()} on {platform.node()}", encoding="utf-8")
        except OSError as error:
            self._lock.release()
            raise FolderError(f"{self.about} cannot be written: {_reason(error)} ({self.path.name})") from error

    def _holder(self) -> str:
        with suppress(OSError):
            text = self.path.read_text(encoding="utf-8", errors="replace")
            if text.startswith("process "):
                return text
        return ""

    def release(self) -> None:
        """Let others write; from any thread, and more than once without harm."""
        with _guard:
            holder = _held.get(self.path)
            if self._released or holder is None:
                return
            self._released = True
            holder._times -= 1
            if not holder._times:
                with suppress(OSError):
                    if holder._holder():
                        os.truncate(self.path, 0)
                self._leave()
                holder._lock.release()
                del _held[self.path]

    def _leave(self) -> None:
        """Called while the lock is still held."""

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


class FolderWriter(Writer):
    """The right to write into a folder, which is made if it is not there, and goes again if nothing was written into it."""

    def __init__(self, folder: Path, what: str) -> None:
        _refuse_others(folder, what)
        self.made = [path for path in (folder, *folder.parents) if not path.exists()]
        try:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise FolderError(f"{folder} cannot be written: {_reason(error)}") from error
            probe(folder)
            super().__init__(folder / LOCK, str(folder))
        except BaseException:
            self._remove()
            raise
        try:
            _refuse_others(folder, what)
        except BaseException:
            self.release()
            raise

    def _leave(self) -> None:
        with suppress(OSError):
            if self.made and [path.name for path in self.made[0].iterdir()] == [LOCK]:
                self.path.unlink()
                self._remove()

    def _remove(self) -> None:
        """Remove the folders that were made, where they are empty."""
        with suppress(OSError):
            for path in self.made:
                path.rmdir()


def writer(folder: Path, what: str) -> FolderWriter:
    """Become the only writer of `folder`, which holds a `what` or nothing; FolderError if it cannot be."""
    return FolderWriter(folder, what)


def probe(folder: Path) -> None:
    """FolderError unless files can be written into `folder`."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\n")
    except OSError as error:
        raise FolderError(f"{folder} cannot be written: {_reason(error)}") from error


def _refuse_others(folder: Path, what: str) -> None:
    """FolderError if there are files in `folder`, but no manifest."""
    try:
        if folder.exists() and not (folder / MANIFEST).exists() and any(not _ours(path) for path in folder.iterdir()):
            raise FolderError(f"{folder} holds files but no {what}; choose another folder")
    except OSError as error:
        raise FolderError(f"{folder} cannot be read: {_reason(error)}") from error


def _ours(path: Path) -> bool:
    return path.name == LOCK or (path.name.startswith(".") and path.name.endswith(".tmp"))


def _reason(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text)[0].lower() + str(text)[1:]


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What the operating system says against writing `path` becomes a FolderError that names it."""
    try:
        yield
    except FileNotFoundError as error:
        gone = "it was" if path.parent.exists() else f"{path.parent} was"
        raise FolderError(f"{path} could not be written: {gone} deleted or moved away") from error
    except OSError as error:
        raise FolderError(f"{path} could not be written: {_reason(error)}") from error


# --- the parameters ------------------------------------------------------------


def holds(folder: Path, parameters: dict[str, Any], what: str, growing: Sequence[str] = ()) -> bool:
    """Whether `folder` holds results of these parameters, whatever those named in `growing` are; FolderError for anything else.

    A folder in which nothing was kept yet may get other parameters.
    """
    _refuse_others(folder, what)
    if not (folder / MANIFEST).exists():
        return False
    manifest = read_sealed(folder / MANIFEST)
    there, kind = manifest.get("parameters"), manifest.get("kind")
    if not isinstance(there, dict):
        raise FolderError(f"{folder / MANIFEST} is damaged: it has no parameters")
    if kind == what and _but(there, growing) == _but(parameters, growing):
        return True
    if not any(path.name != MANIFEST and not _ours(path) for path in folder.iterdir()):
        return False
    if kind != what:
        raise FolderError(f"{folder} holds a {kind}, not a {what}; choose another folder")
    raise FolderError(
        f"{folder} holds a {what} with other parameters; choose another folder, or remove this one.\n" + differences(there, parameters)
    )


def claim(folder: Path, parameters: dict[str, Any], what: str) -> None:
    """Make `folder` one of these parameters: write its manifest, unless it says so already."""
    path = folder / MANIFEST
    there = read_sealed(path) if path.exists() else {}
    if (there.get("kind"), there.get("parameters")) != (what, parameters):
        write_sealed(path, {"kind": what, "parameters": parameters, "versions": versions()})


def key_of(parameters: dict[str, Any], what: str, growing: Sequence[str] = ()) -> bytes:
    """The key of the checksums of one set of parameters."""
    return blake2b(_plain([what, _but(parameters, growing)]), digest_size=32).digest()


def _but(parameters: dict[str, Any], growing: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name not in growing}


def _plain(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True).encode()


def name_of(parts: Iterable[str], parameters: dict[str, Any], complete: bool) -> str:
    """The name of a default folder: `parts` in small letters, and a checksum of `parameters` unless the parts say all (`complete`)."""
    slug = "-".join(filter(None, (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)))
    if complete and len(slug) <= LONGEST_NAME:
        return slug
    return f"{slug[:LONGEST_NAME].rstrip('-')}-{blake2b(_plain(parameters), digest_size=4).hexdigest()}"


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("citadels-research", "numpy", "numba", "scipy", "pandas", "choix"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a checkout
            found[name] = "not installed"
    for name in ("ray", "torch"):  # of the extra for training
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def machine() -> dict[str, Any]:
    """Where something was measured."""
    return {"processor": platform.processor() or platform.machine(), "system": platform.system(), **versions()}


def differences(there: dict[str, Any], asked: dict[str, Any]) -> str:
    flat = [{**data, **data.get("rules", {})} for data in (there, asked)]
    lines = []
    for name in sorted((flat[0].keys() | flat[1].keys()) - {"rules"}):
        old: Any = flat[0].get(name)
        new: Any = flat[1].get(name)
        if name == "sets" and old != new:
            lines.append(f"  sets: {len(old)} there, {len(new)} asked for, {len(set(old) & set(new))} of them the same")
        elif old != new:
            lines.append(f"  {name}: {old!r} there, {new!r} asked for")
    return "\n".join(lines)


# --- files ---------------------------------------------------------------------


class Lines:
    """A file that grows by whole lines, each with its checksum: the last column of a table, the last entry of a JSON object.

    key: of the parameters (`key_of`).  header: the first line of a table, without the column of checksums.  durable: every addition
    is on the disk before the next thing happens.  remedy: what to do about a line that does not fit.
    """

    def __init__(
        self,
        path: Path,
        key: bytes,
        header: str = "",
        durable: bool = False,
        remedy: str = "restore the file, or delete this line and all after it to have them made again",
    ) -> None:
        self.path, self.header, self.durable, self.remedy = path, header, durable, remedy
        self._key = blake2b(key + path.name.encode()).digest()
        self.json = path.suffix == ".jsonl"
        self.count = 0  # lines in the file, without the header
        self._size = 0  # of the file, bytes

    def read(self) -> list[str]:
        """The lines, without their checksums; FolderError, which names the line, if they are not what was written."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            content = b""
        except OSError as error:
            raise FolderError(f"{self.path} cannot be read: {_reason(error)}") from error
        self._size = content.rfind(b"\n") + 1
        texts = content[: self._size].split(b"\n")[:-1]
        first = 1
        if self.header and texts:
            if texts.pop(0) != f"{self.header},check".encode():
                raise FolderError(f"{self.path}, line 1: the header was changed; it is {self.header},check")
            first = 2
        self.count = len(texts)
        return [self._opened(text, place, first) for place, text in enumerate(texts)]

    def resume(self) -> list[str]:
        """As `read`, and the file loses a last line that was cut short."""
        lines = self.read()
        if self.path.exists() and self.path.stat().st_size > self._size:
            with writing(self.path):
                os.truncate(self.path, self._size)
        return lines

    def add(self, lines: Iterable[str]) -> None:
        """Write more lines.  If that fails, those that were there stay, and FolderError says what was in the way."""
        new = list(lines)
        text = b"" if self._size else self._heading()
        text += b"".join(self._closed(line, self.count + k) for k, line in enumerate(new))
        with writing(self.path), self.path.open("r+b" if self._size else "ab", buffering=0) as file:
            there = file.seek(0, os.SEEK_END)
            if there != self._size:
                sizes = f"it has {there:,} bytes, not {self._size:,}"
                raise FolderError(f"{self.path} was changed by somebody else while it was written: {sizes}; nothing was added")
            try:
                rest = memoryview(text)
                while rest:
                    rest = rest[file.write(rest) :]
                if self.durable:
                    os.fsync(file.fileno())
            except BaseException:
                with suppress(OSError):
                    file.truncate(self._size)
                raise
        self._size += len(text)
        self.count += len(new)

    def put(self, lines: Iterable[str]) -> None:
        """Make these the lines of the file, at once; a file that holds just these is not touched."""
        new = list(lines)
        text = self._heading() + b"".join(self._closed(line, place) for place, line in enumerate(new)) if new else b""
        if (self.path.read_bytes() if self.path.exists() else b"") != text:
            write(self.path, text)
        self.count, self._size = len(new), len(text)

    def _heading(self) -> bytes:
        return f"{self.header},check\n".encode() if self.header else b""

    def _check(self, line: bytes, place: int) -> bytes:
        return blake2b(b"%d " % place + line, digest_size=6, key=self._key).hexdigest().encode()

    def _closed(self, line: str, place: int) -> bytes:
        text = line.encode()
        check = self._check(text, place)
        return text[:-1] + b', "check": "' + check + b'"}\n' if self.json else text + b"," + check + b"\n"

    def _opened(self, text: bytes, place: int, first: int) -> str:
        if self.json:
            line, mark, check = text[:-2].rpartition(b', "check": "')
            line, whole = line + b"}", bool(mark) and text.endswith(b'"}')
        else:
            line, mark, check = text.rpartition(b",")
            whole = bool(mark)
        if whole and check == self._check(line, place):
            return line.decode()
        where = f"{self.path}, line {place + first}"
        if whole:
            for other in range(2 * place + 10_000):
                if check == self._check(line, other):
                    moved = f"this is line {other + first} of what was written; lines were moved, doubled or left out"
                    raise FolderError(f"{where}: {moved}: {self.remedy}")
            raise FolderError(f"{where}: its checksum does not fit; the line was changed, or belongs to other parameters: {self.remedy}")
        raise FolderError(f"{where}: it has no checksum; the line was changed, or written by something else: {self.remedy}")


def write(path: Path, content: bytes) -> Path:
    """Write a file so that it is never there by half."""
    fresh = path.with_name(f".{path.name}.tmp")
    with writing(path):
        try:
            fresh.write_bytes(content)
            return fresh.replace(path)
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            raise


def write_json(path: Path, data: Any) -> Path:
    return write(path, (json.dumps(data, indent=1) + "\n").encode())


def write_sealed(path: Path, data: dict[str, Any]) -> Path:
    """Write a JSON object with its checksum."""
    return write_json(path, data | {"check": _seal(data)})


def read_sealed(path: Path) -> dict[str, Any]:
    """What `write_sealed` wrote; FolderError, which names the file, if it is not that."""
    data = read_json(path)
    check = data.pop("check", None)
    if check != _seal(data):
        raise FolderError(f"{path} is damaged: it was changed, its checksum does not fit")
    return data


def write_sealed_bytes(path: Path, content: bytes) -> Path:
    """Write a file whose first line is the checksum of the rest."""
    return write(path, blake2b(content).hexdigest().encode() + b"\n" + content)


def read_sealed_bytes(path: Path) -> bytes:
    """What `write_sealed_bytes` wrote; FolderError, which names the file, if it is not that."""
    try:
        check, _, content = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise FolderError(f"{path} cannot be read: {_reason(error)}") from error
    if check != blake2b(content).hexdigest().encode():
        raise FolderError(f"{path} is damaged: it was changed, its checksum does not fit")
    return content


def _seal(data: dict[str, Any]) -> str:
    return blake2b(_plain(data), digest_size=6).hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; FolderError, which names the file, if it is not that."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FolderError(f"{path} cannot be read: {_reason(error)}") from error
    except json.JSONDecodeError as error:
        raise FolderError(f"{path} is damaged, line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise FolderError(f"{path} is damaged: {error}") from None
    if not isinstance(data, dict):
        raise FolderError(f"{path} is damaged: it holds no JSON object")
    return data
