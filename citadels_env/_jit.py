"""The two decorators of the kernel, with a cache that is never stale.

Numba's own cache looks only at the file of the cached function, so an edit to a callee or to a table in another
module would silently play the old rules; it falls back to folders beside the sources, and a damaged file or a full
disk stops the program.  Here an entry is named by all that decides what the compiler makes of it (`_version`, `_key`), and
`_cache` keeps it on disk.  What is used of Numba's inside stands in `_Kept` and `_Entry`; where a release of Numba
changes it, the library compiles in memory and says so.
"""

import functools
import re
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import njit
from numba.core import config
from numba.core.types import unliteral

from . import _cache

COMPILED = not config.DISABLE_JIT  # False under NUMBA_DISABLE_JIT=1: the same source as plain Python
ENTRIES: list[Any] = []  # all entry points that were imported

_CORE = Path(__file__).parent
_LAYOUT = 1  # of what is kept
_FLAGS = (  # that change what is compiled; the processor and its features are part of each entry's key
    "OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS",
    "USING_SVML", "ENABLE_PROFILING", "DEBUG_NRT", "NRT_STATS", "JIT_COVERAGE", "FULL_TRACEBACKS",
)  # fmt: skip


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` when an entry point first calls it (nopython, not cached by itself)."""
    compiled = njit(function)
    if COMPILED:
        _one_signature(compiled)
    return compiled


def _one_signature(dispatcher: Any) -> None:
    """Type calls without their literal arguments: Numba would compile `draw(g, seat, 2)` and `draw(g, seat, 4)` apart."""
    template = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: template(tuple(map(unliteral, args)), {k: unliteral(v) for k, v in kws.items()})


def entry_for(*packages: Path) -> Callable[[Callable[..., Any]], Any]:
    """Make the decorator for entry points whose code comes from the core and from `packages`.

    packages: folders (with all folders below them) or files with the sources that the entry point can reach;
    its own file is added where it lies outside of them.

    An entry point is a kernel function called from Python.  It is cached on disk and releases the
    interpreter lock.
    """

    def entry(function: Callable[..., Any]) -> Any:
        compiled = njit(nogil=True)(function)
        if not COMPILED:
            return _quiet(compiled)
        _keep(compiled, (_CORE, *packages))
        ENTRIES.append(compiled)
        return compiled

    return entry


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Plain Python: the random numbers overflow by intent."""

    @functools.wraps(function)
    def quiet(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return quiet


# --- what an entry is made of -------------------------------------------------


@functools.cache
def _digest(package: Path) -> str:
    """The contents of the sources when they were imported."""
    return _digest_now(package)


def _digest_now(package: Path) -> str:
    """The contents of all sources of a package, with the folders below it; empty if there are none to read."""
    digest, read, files = sha256(), 0, {"": package}
    with suppress(OSError):
        if package.is_dir():
            files = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    for name in sorted(files):
        with suppress(OSError):  # an editor's lock, a file just removed: nothing that can have been imported
            content = files[name].read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
            read += 1
    return digest.hexdigest() if read else ""


def _sources(function: Any, packages: tuple[Path, ...]) -> tuple[Path, ...]:
    """`packages`, and the function's own file where it lies elsewhere."""
    packages = tuple(package.absolute() for package in packages)
    own = Path(function.__code__.co_filename).absolute()
    return packages if any(package == own or package in own.parents for package in packages) else (*packages, own)


def _version(sources: tuple[Path, ...]) -> tuple[str, dict[str, Any]]:
    """The name of the version an entry belongs to, and what it is made of."""
    description = {
        "layout": _LAYOUT,
        "python": f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}",
        "optimize": sys.flags.optimize,  # -O takes the assertions out of the kernel
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": np.__version__,
        "flags": {name: str(getattr(config, name, None)) for name in _FLAGS},
        "sources": [[package.name, _digest(package)] for package in sources],
    }
    return sha256(repr(description).encode()).hexdigest()[:16], description


# --- Numba's side -------------------------------------------------------------


class _Kept:
    """The cache of one entry point, with the methods that Numba calls (`numba.core.caching._Cache`)."""

    def __init__(self, function: Callable[..., Any], packages: tuple[Path, ...]) -> None:
        self.function = function
        self.sources = _sources(function, packages)
        self.readable = all(map(_digest, self.sources))  # code without its sources (a notebook, a zip archive) has no name
        self.name = re.sub(r"<locals>\.|[^\w.]", "", f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}")
        self.asked = False
        self.open = threading.local()  # the compilation that runs in a thread

    @property
    def cache_path(self) -> str | None:
        return str(_cache.FOLDERS[0]) if _cache.FOLDERS else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature; None if it has to be compiled, which is then announced."""
        self.asked = True
        guard = None
        entry = self._entry(sig, lambda: (target_context.refresh(), target_context.codegen())[1])
        if entry is not None:
            found = entry.load(target_context)
            if found is None and not _compiling.depth:  # whoever holds a lock never waits for another
                guard = _cache.lock(entry.version, entry.file)
                found = None if guard is None else entry.load(target_context)
            if found is not None:
                _release(guard)
                return found
        _compiling.depth += 1
        self.open.guard, self.open.start = guard, time.perf_counter()
        _announce(self.name)
        return None

    def save_overload(self, sig: Any, result: Any) -> None:
        """Keep a compiled function, if that is possible."""
        seconds = time.perf_counter() - getattr(self.open, "start", time.perf_counter())
        if seconds >= 1:
            _cache.say(f"compiled {self.name} in {seconds:.0f} s")
        if not self.readable:
            _cache.report("sources", f"{self.name} is compiled at each start: its sources cannot be read ({self._unreadable()})")
        elif any(_digest(package) != _digest_now(package) for package in self.sources):
            _cache.report("edited", "the sources were edited after they were imported; what this program compiles is not kept")
        else:
            entry = self._entry(sig, lambda: result.codegen)
            if entry is not None:
                entry.save(result, seconds)

    def finish(self) -> None:
        """The compilation of this thread, if there is one, is over or has failed."""
        if getattr(self.open, "start", None) is not None:
            _compiling.depth -= 1
            _release(self.open.guard)
            self.open.guard = self.open.start = None

    def enable(self) -> None:
        """Numba's; nothing to do."""

    disable = flush = enable

    def _unreadable(self) -> str:
        return ", ".join(str(package) for package in self.sources if not _digest(package))

    def _entry(self, sig: Any, codegen: Callable[[], Any]) -> "_Entry | None":
        """Where the code for a signature is kept; None if it cannot be."""
        if not self.readable:
            return None
        try:
            from numba.core import serialize

            triple, processor, features = codegen().magic_tuple()
            cells = serialize.dumps(tuple(cell.cell_contents for cell in self.function.__closure__ or ()))
            whole = f"{self.function.__module__}.{self.function.__qualname__}"
            parts = (whole, str(sig), triple, processor, features, self.function.__code__.co_code, cells)
            key = sha256(repr(parts).encode()).hexdigest()
            version, description = _version(self.sources)
            about = {"function": whole, "processor": processor}
            return _Entry(sig, version, description, f"{self.name}-{key[:16]}", key, about)
        except Exception as error:
            _report_numba(error)
            return None


@dataclass(frozen=True)
class _Entry:
    """One compiled function on disk: for one signature and one processor."""

    sig: Any
    version: str
    description: dict[str, Any]
    file: str
    key: str
    about: dict[str, Any]

    def load(self, target_context: Any) -> Any:
        data = _cache.load(self.version, self.file, self.key)
        if data is None:
            return None
        try:
            from numba.core import serialize
            from numba.core.compiler import CompileResult

            sig, reduced = serialize.loads(data)
            return CompileResult._rebuild(target_context, *reduced) if sig == self.sig else None
        except Exception as error:
            _report_numba(error)
            return None

    def save(self, result: Any, seconds: float) -> None:
        try:
            from numba.core import serialize

            if result.lifted or result.library.has_dynamic_globals:
                return  # it holds addresses of this process
            data = serialize.dumps((self.sig, result._reduce()))
        except Exception as error:
            _report_numba(error)
            return
        _cache.save(self.version, self.description, self.file, self.key, data, {**self.about, "seconds": round(seconds, 1)})


def _release(guard: Any) -> None:
    if guard is not None:
        with suppress(Exception):
            guard.release()


class _Compiling(threading.local):
    depth = 0  # entry points that this thread compiles at the moment, one within another


_compiling = _Compiling()
_announced = False


def _announce(name: str) -> None:
    global _announced
    if _announced:
        _cache.say(f"compiling {name} ...")
    else:
        _announced = True
        _cache.say(f"compiling the rules for this machine (once after an install or an update; about a minute): {name} ...")


def _report_numba(error: Exception) -> None:
    _cache.report("numba", f"compiled code cannot be kept with Numba {numba.__version__} ({type(error).__name__}: {error})")


def _keep(dispatcher: Any, packages: tuple[Path, ...]) -> None:
    """Give an entry point its cache; calls that need not be compiled are as fast as without."""
    kept = _Kept(dispatcher.py_func, packages)
    dispatcher._cache = kept
    compile_ = dispatcher.compile

    @functools.wraps(compile_)
    def compile_and_finish(sig: Any) -> Any:
        try:
            return compile_(sig)
        finally:
            kept.finish()
            if not kept.asked:
                _report_numba(AttributeError("Dispatcher._cache"))

    dispatcher.compile = compile_and_finish


def versions_in_use() -> set[str]:
    """The names of the versions that the imported entry points belong to."""
    return {_version(entry._cache.sources)[0] for entry in ENTRIES}


entry = entry_for()
