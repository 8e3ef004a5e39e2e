"""The two decorators of the kernel, with a cache that is never stale.

Numba's own cache looks only at the file of the cached function, so an edit to a
callee or to a table in another module would silently play the old rules.  Here
the cache directory is named by the content of every source file that can reach
the compiled code, the Numba version and the compiler flags.
"""

import functools
import os
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import njit
from numba.core import config
from numba.core.types import unliteral
from platformdirs import user_cache_path

COMPILED = not config.DISABLE_JIT  # False under NUMBA_DISABLE_JIT=1: the same source as plain Python

_CORE = Path(__file__).parent
_CACHE = Path(os.environ.get("CITADELS_CACHE_DIR") or user_cache_path("citadels_env"))
_announced = False


def _directory(*packages: Path) -> Path:
    """The cache directory for kernel code made of the sources of `packages`."""
    digest = sha256(f"{numba.__version__} {config.OPT} {config.BOUNDSCHECK}".encode())
    for package in packages:
        for source in sorted(package.glob("*.py")):
            digest.update(source.name.encode() + source.read_bytes())
    return _CACHE / digest.hexdigest()[:16]


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

    An entry point is a kernel function called from Python.  It is cached on disk and releases the
    interpreter lock.
    """
    directory = _directory(_CORE, *packages)

    def entry(function: Callable[..., Any]) -> Any:
        before, config.CACHE_DIR = config.CACHE_DIR, str(directory)
        try:
            compiled = njit(cache=True, nogil=True)(function)
        finally:
            config.CACHE_DIR = before
        return _Announced(compiled, directory) if COMPILED else _quiet(compiled)

    return entry


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Plain Python: the random numbers overflow by intent."""

    @functools.wraps(function)
    def quiet(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return quiet


class _Announced:
    """An entry point that says so when its first call has to compile; `run` is the bare function after that."""

    def __init__(self, compiled: Any, directory: Path) -> None:
        self.compiled = compiled
        self.directory = directory
        self.run = self._first_call

    def __call__(self, *args: Any) -> Any:
        return self.run(*args)

    def _first_call(self, *args: Any) -> Any:
        global _announced
        name = self.compiled.py_func.__name__
        cached = any(self.directory.rglob(f"*.{name}-*.nbi")) if self.directory.exists() else False
        if not cached and not _announced:
            _announced = True
            print(
                "citadels: compiling the rules for this machine (once after an install or an update; about a minute) ...",
                file=sys.stderr,
                flush=True,
            )
        start = time.perf_counter()
        result = self.compiled(*args)
        if not cached:
            print(f"citadels: compiled {name} in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        self.run = self.compiled
        return result


entry = entry_for()
