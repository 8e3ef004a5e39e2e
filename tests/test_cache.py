"""Compiled code on disk: never old rules, never a failing run, never a silent minute."""

import errno
import importlib
import logging
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest
from click.testing import CliRunner
from filelock import FileLock

import citadels_experiments
from citadels_env import _cache, _jit, batch
from citadels_experiments import cli, warmup

ROOT = Path(__file__).parent.parent
COMPILING, CANNOT_KEEP = "citadels: compiling", "citadels: compiled code cannot be kept"
compiled_only = pytest.mark.skipif(not _jit.COMPILED, reason="plain Python compiles nothing")


# --- a small kernel of its own package, quick to compile ------------------------

TINY = {
    "__init__.py": """
from pathlib import Path
from citadels_env._jit import entry_for
from .rules import bonus

@entry_for(Path(__file__).parent)
def points(n):
    return n + bonus(n)

@entry_for(Path(__file__).parent)
def doubled(n):
    return 2 * n + bonus(n)
""",
    "rules.py": """
from citadels_env._jit import kernel
from .deep.table import BONUS

@kernel
def bonus(n):
    assert n < 100
    return BONUS
""",
    "deep/__init__.py": "",
    "deep/table.py": "BONUS = 4\n",
}


class Tiny:
    """The package `tiny` in a folder, and the cache in others."""

    def __init__(self, folder, caches, caplog):
        self.folder, self.caches, self.caplog = folder, caches, caplog

    def __call__(self, call=lambda package: package.points(1)):
        """Import it as a new process would, and call something of it: (value, what was said)."""
        for name in [name for name in sys.modules if name.split(".")[0] == "tiny"]:
            del sys.modules[name]
        _jit._digest.cache_clear()
        importlib.invalidate_caches()
        _cache.REPORTED.clear()
        _cache._touched.clear()
        self.caplog.clear()
        value = call(importlib.import_module("tiny"))
        return value, self.caplog.text

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def kept(self, pattern="*.nbc"):
        return sorted(path for cache in self.caches for path in cache.rglob(pattern))


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Cache folders of a test: the first and the second choice."""
    both = (tmp_path / "first", tmp_path / "second")
    monkeypatch.setattr(_cache, "FOLDERS", both)
    monkeypatch.setattr(_cache, "REPORTED", {})
    monkeypatch.setattr(_cache, "_touched", set())
    return both


@pytest.fixture
def blocked(tmp_path):
    """A folder that nobody can make, root included: a file stands in its way."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "cache"


@pytest.fixture
def tiny(tmp_path, folders, monkeypatch, caplog):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(_jit, "ENTRIES", list(_jit.ENTRIES))
    monkeypatch.syspath_prepend(tmp_path / "sources")
    package = Tiny(tmp_path / "sources" / "tiny", folders, caplog)
    for name, text in TINY.items():
        package.write(name, text)
    return package


def environment_of(folder, cache, **more):
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    paths = os.pathsep.join((str(folder), str(ROOT)))
    return environment | {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "CITADELS_CACHE_DIR": str(cache), **more}


def start(package, cache, code, *flags, **more):
    """Start a program that uses `tiny` in an interpreter of its own."""
    return subprocess.Popen(
        [sys.executable, *flags, "-c", "import tiny\n" + code], env=environment_of(package.folder.parent, cache, **more),
        cwd=package.folder.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def run(package, cache, code="print(tiny.points(1))", *flags, **more):
    """What such a program says: (stdout, stderr)."""
    with start(package, cache, code, *flags, **more) as process:
        said, told = process.communicate()
    assert process.returncode == 0, told
    return said.split(), told


def files_in(folder, pattern):
    return sorted(path for path in folder.rglob(pattern))


# --- the rules that are played are those of the sources --------------------------


@compiled_only
@pytest.mark.parametrize("where", ["writable", "unwritable"])
def test_an_edit_anywhere_below_the_package_is_played(tiny, blocked, monkeypatch, where):
    if where == "unwritable":
        monkeypatch.setattr(_cache, "FOLDERS", (blocked,))
    assert tiny()[0] == 5
    tiny.write("deep/table.py", "BONUS = 40\n")
    assert tiny()[0] == 41
    tiny.write("deep/table.py", "BONUS = 4\n")
    value, told = tiny()
    assert value == 5
    assert (COMPILING in told) == (where == "unwritable")  # the first version is still there


@compiled_only
def test_nothing_is_written_beside_the_sources(tiny, blocked, monkeypatch):
    before = files_in(tiny.folder, "*")
    tiny()
    assert len(tiny.kept()) == 1
    monkeypatch.setattr(_cache, "FOLDERS", (blocked,))
    tiny()
    assert files_in(tiny.folder, "*") == before


@compiled_only
def test_sources_edited_while_the_program_runs_are_not_kept_under_the_old_name(tiny):
    def edit_and_call(package):
        tiny.write("deep/table.py", "BONUS = 40\n")
        return package.points(1)

    value, told = tiny(edit_and_call)
    assert value == 5
    assert "edited" in told
    assert tiny.kept() == []


@pytest.mark.slow
@compiled_only
def test_an_edited_rule_of_the_game_is_played_with_and_without_a_cache(tmp_path, blocked):
    import shutil

    package = tmp_path / "sources" / "citadels_env"
    shutil.copytree(ROOT / "citadels_env", package, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "from citadels_env import GERMAN, batch, state\n"
        "s = state.records(1); batch.fill_in_rules(s, [GERMAN], 8); s['first_completers'] = 1; batch.count_scores(s)\n"
        "print(s['score'][0, 0])"
    )

    def score(cache):
        environment = environment_of(package.parent, cache, PYTHONPATH=str(package.parent))
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, cwd=package.parent)
        return int(done.stdout)

    assert score(blocked) == score(tmp_path / "cache") == 4
    scoring = package / "scoring.py"
    text = scoring.read_text()
    assert text.count("total += 4") == 1
    scoring.write_text(text.replace("total += 4", "total += 40"))
    assert score(blocked) == score(tmp_path / "cache") == 40
    assert files_in(package, "*.nb?") == []


def test_the_name_of_a_version_follows_every_file(tmp_path):
    def digest(**files):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        for name, text in files.items():
            path = folder / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return _jit._digest_now(folder)

    different = [
        digest(a="1", b="2"), digest(a="1", b="3"), digest(a="2", b="1"), digest(a="12", b=""), digest(a="1", c="2"),
        digest(a="1", deep__b="2"), digest(a="1", deep__deeper__b="2"), digest(a="1"),
    ]  # fmt: skip
    assert len(set(different)) == len(different)
    assert digest(a="1", deep__b="2") == different[5]
    assert digest() == ""


def test_what_an_editor_leaves_in_the_sources_does_not_stop_the_import(tiny):
    before = _jit._digest_now(tiny.folder)
    (tiny.folder / ".#rules.py").symlink_to("ann@host.123")  # Emacs: a link to nowhere
    assert _jit._digest_now(tiny.folder) == before


def test_the_name_of_a_version_follows_compiler_interpreter_and_flags(monkeypatch):
    def name():
        return _jit._version((Path(_jit.__file__).parent,))[0]

    names = [name(), name()]
    for target, value in (
        ("numba.__version__", "0"), ("llvmlite.__version__", "0"), ("np.__version__", "0"),
        ("sys.flags", SimpleNamespace(optimize=2)), ("sys.implementation", SimpleNamespace(cache_tag="cpython-999")),
        ("config.OPT", 0), ("config.BOUNDSCHECK", 1), ("config.SLP_VECTORIZE", 1), ("config.DEBUGINFO_DEFAULT", 1),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            owner, attribute = target.split(".")
            patch.setattr(getattr(_jit, owner), attribute, value)
            names.append(name())
    assert names[0] == names[1]
    assert len(set(names)) == len(names) - 1


@compiled_only
def test_the_key_of_an_entry_follows_signature_and_processor():
    kept = batch.count_scores._cache
    host = ("x86_64", "znver4", "+avx2")
    entries = [(("int64",), host), (("int32",), host), (("int64",), ("aarch64", *host[1:])), (("int64",), ("x86_64", "generic", "+avx2"))]
    entries.append((("int64",), ("x86_64", "znver4", "")))
    keys = [kept._entry(sig, lambda m=magic: SimpleNamespace(magic_tuple=lambda: m)).key for sig, magic in entries]
    assert len(set(keys)) == len(keys)
    assert kept._entry(("int64",), lambda: SimpleNamespace(magic_tuple=lambda: host)).key == keys[0]


# --- a run never fails because of its cache --------------------------------------


@compiled_only
def test_nothing_writable_at_all_compiles_in_memory_and_says_so_once(tiny, blocked):
    unwritable = {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked)}
    said, told = run(tiny, blocked, "print(tiny.points(1), tiny.doubled(1))", "-W", "error", **unwritable)  # warnings are no errors either
    assert said == ["5", "6"]
    assert told.count(COMPILING) == 2
    assert told.count(CANNOT_KEEP) == 1
    assert str(blocked) in told
    assert "CITADELS_CACHE_DIR" in told


@compiled_only
def test_a_full_disk_costs_the_cache_and_not_the_run(tiny, monkeypatch):
    def full(path, content):
        with path.open("wb") as file:
            file.write(content[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        value, told = tiny(lambda package: (package.points(1), package.doubled(1)))
    assert value == (5, 6)
    assert told.count(CANNOT_KEEP) == 1
    assert "No space left" in told
    assert [path for path in tiny.kept("*") if path.is_file() and path.suffix != ".lock"] == []
    assert tiny()[0] == 5
    assert tiny() == (5, "")


@compiled_only
def test_a_damaged_entry_is_compiled_anew_and_mended(tiny):
    tiny()
    for ending in ("nbi", "nbc"):
        (file,) = tiny.kept(f"*points*.{ending}")
        whole = file.read_bytes()
        for damaged in (whole[:50], b"", os.urandom(5000), b"[" * 100_000):
            file.write_bytes(damaged)
            value, told = tiny()
            assert value == 5
            assert COMPILING in told
            assert "cannot be used" in told
            assert tiny() == (5, "")


A, B, C = "a" * 16, "b" * 16, "c" * 16  # names of versions


def keep(version=A, name="points-1", key="key", data=b"code" * 100):
    return _cache.save(
        version, {"python": "cpython-311", "numba": "1", "sources": [["tiny", "1"]]}, name, key, data, {"function": "points"}
    )


def test_each_changed_byte_of_an_entry_is_noticed(folders):
    keep()
    for file in (folders[0] / A / "points-1.nbc", folders[0] / A / "points-1.nbi"):
        whole = file.read_bytes()
        key_at = whole.find(b'"key"') if file.suffix == ".nbi" else 0
        for place in (key_at, key_at + 7, len(whole) // 2 if file.suffix == ".nbc" else key_at + 9, -1):
            changed = bytearray(whole)
            changed[place] ^= 1
            file.write_bytes(changed)
            assert _cache.load(A, "points-1", "key") in (None, b"code" * 100 if file.suffix == ".nbi" else None)
        file.write_bytes(whole)
    assert _cache.load(A, "points-1", "key") == b"code" * 100


def test_code_of_another_function_is_not_taken_for_this_one(folders):
    keep()
    keep(name="other-1", key="other")
    place = folders[0] / A
    (place / "other-1.nbc").replace(place / "points-1.nbc")
    assert _cache.load(A, "points-1", "key") is None
    (place / "other-1.nbi").replace(place / "points-1.nbi")
    assert _cache.load(A, "points-1", "key") is None


def test_the_next_folder_is_used_where_the_first_cannot_be_written(folders):
    folders[0].write_text("")
    assert keep()
    assert _cache.REPORTED == {}
    assert _cache.load(A, "points-1", "key") == b"code" * 100
    assert (folders[1] / A / "points-1.nbc").exists()


def test_a_read_only_folder_is_read(folders, monkeypatch):
    keep()

    def refuse(path, content):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(_cache, "_write", refuse)
    age(folders[0] / A, 31)
    monkeypatch.setattr(_cache.os, "utime", lambda path: refuse(path, b""))
    monkeypatch.setattr(_cache, "_touched", set())
    assert _cache.load(A, "points-1", "key") == b"code" * 100
    assert not keep(name="more-1")
    assert "Read-only" in _cache.REPORTED["save"]


def test_numba_with_another_inside_compiles_in_memory_and_says_so(folders):
    entry = _jit._Entry((), A, {}, "points-1", "key", {})

    class Changed:
        lifted = ()
        library = SimpleNamespace(has_dynamic_globals=False)

        def _reduce(self):
            raise AttributeError("no such thing any more")

    entry.save(Changed(), 1.0)
    assert "no such thing any more" in _cache.REPORTED["numba"]
    keep(data=b"no pickle")
    assert entry.load(None) is None


@compiled_only
def test_numba_that_does_not_ask_for_the_cache_is_noticed(tiny):
    def call_without(package):
        package.points._cache = numba.core.caching.NullCache()
        return package.points(1)

    value, told = tiny(call_without)
    assert value == 5
    assert CANNOT_KEEP in told


@compiled_only
def test_a_call_that_cannot_be_compiled_leaves_no_lock(tiny):
    with pytest.raises(numba.TypingError):
        tiny(lambda package: package.points("text"))
    (lock,) = tiny.kept("*.lock")
    with FileLock(lock, timeout=0):
        pass
    assert tiny()[0] == 5


# --- many at once ----------------------------------------------------------------


@compiled_only
def test_processes_that_start_at_once_compile_once(tiny, tmp_path):
    processes = [start(tiny, tmp_path / "cache", "print(0, flush=True)\ninput()\nprint(tiny.points(1))") for _ in range(4)]
    for process in processes:
        assert process.stdout.readline() == "0\n"  # it has imported everything
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = [process.communicate() for process in processes]
    assert [said for said, _ in outputs] == ["5\n"] * len(processes)
    assert sum(COMPILING in told for _, told in outputs) == 1


@compiled_only
def test_threads_that_call_at_once_compile_once(tiny):
    with ThreadPoolExecutor(8) as pool:
        value, told = tiny(lambda package: list(pool.map(package.points, [1] * 8)))
    assert value == [5] * 8
    assert told.count(COMPILING) == 1


@compiled_only
def test_one_who_waits_too_long_compiles_by_himself(tiny, monkeypatch):
    monkeypatch.setattr(_cache, "LONGEST_WAIT", 0.2)
    tiny()
    (lock,) = tiny.kept("*.lock")
    tiny.kept()[0].unlink()
    with FileLock(lock):
        value, told = tiny()
    assert value == 5
    assert "another process is compiling tiny.points" in told
    assert COMPILING in told


def test_readers_never_see_half_an_entry_whoever_writes_and_removes(folders):
    texts = [bytes([k]) * 200_000 for k in range(4)]
    stop = threading.Event()

    def write(text):
        while not stop.is_set():
            keep(data=text)

    def clear():
        while not stop.is_set():
            for version in _cache.kept():
                _cache.remove(version)
            time.sleep(0.01)

    with ThreadPoolExecutor(6) as pool:
        for text in texts:
            pool.submit(write, text)
        pool.submit(clear)
        found = [_cache.load(A, "points-1", "key") for _ in range(500)]
        stop.set()
    assert set(found) <= {*texts, None}
    assert len(set(found)) > 2
    assert [kind for kind in _cache.REPORTED if kind != "save"] == []  # a writer may find its folder just removed


# --- every compilation is announced ----------------------------------------------


@compiled_only
def test_another_processor_and_oo_are_announced_and_kept_apart(tiny, tmp_path):
    cache = tmp_path / "cache"
    for more in ({}, {"NUMBA_CPU_NAME": "generic"}, {"PYTHONOPTIMIZE": "2"}):
        said, told = run(tiny, cache, **more)
        assert said == ["5"]
        assert told.count(COMPILING) == 1, more
        assert "tiny.points" in told
    assert run(tiny, cache) == (["5"], "")


@compiled_only
def test_other_flags_are_announced_and_kept_apart(tiny, monkeypatch):
    assert COMPILING in tiny()[1]
    with monkeypatch.context() as patch:
        patch.setattr(_jit.config, "BOUNDSCHECK", 1)
        assert COMPILING in tiny()[1]
        assert tiny() == (5, "")
    assert tiny() == (5, "")


@compiled_only
def test_a_second_signature_is_announced_too(tiny):
    def call_both(package):
        return package.points(1), package.points(1.0), package.points(2)

    value, told = tiny(call_both)
    assert value == (5, 5.0, 6)
    assert told.count(COMPILING) == 2
    assert tiny(call_both) == (value, "")


def test_what_takes_over_a_second_says_how_long_it_took(tiny, monkeypatch):
    clock = iter([0.0, 12.3])
    monkeypatch.setattr(_jit.time, "perf_counter", lambda: next(clock, 12.3))
    kept = _jit._Kept(lambda: 0, (tiny.folder,))
    kept.open.start = _jit.time.perf_counter()
    kept.readable = False
    kept.save_overload((), None)
    assert "in 12 s" in tiny.caplog.text


def test_announcements_go_to_the_logging_of_a_program_that_has_it(caplog, capsys):
    _cache.say("compiling x ...")
    (record,) = caplog.records
    assert (record.name, record.levelname, record.getMessage()) == ("citadels_env", "INFO", "citadels: compiling x ...")
    assert capsys.readouterr().err == ""


def test_announcements_go_to_the_terminal_of_a_program_without_logging(monkeypatch, capsys):
    monkeypatch.setattr(_cache.log, "propagate", False)
    _cache.say("compiling x ...")
    assert capsys.readouterr().err == "citadels: compiling x ...\n"
    monkeypatch.setattr(_cache.log, "level", logging.WARNING)
    _cache.log.manager._clear_cache()
    _cache.say("compiling x ...")
    assert capsys.readouterr().err == ""
    _cache.log.manager._clear_cache()


def test_a_closed_stderr_does_not_stop_a_compilation(monkeypatch, tmp_path):
    monkeypatch.setattr(_cache.log, "propagate", False)
    closed = (tmp_path / "closed").open("w")
    closed.close()
    for stderr in (closed, None):
        monkeypatch.setattr(sys, "stderr", stderr)
        _cache.say("compiling x ...")
        _cache.report(str(stderr), "text")


@compiled_only
def test_calls_go_straight_to_the_compiled_function():
    from numba.core.dispatcher import Dispatcher

    assert _jit.ENTRIES
    assert all(isinstance(entry, Dispatcher) for entry in _jit.ENTRIES)


# --- where, and for how long -------------------------------------------------------


def test_the_folder_is_the_one_the_user_names(monkeypatch, tmp_path):
    monkeypatch.setattr(_cache.config, "CACHE_DIR", "")
    assert _cache._folders({"CITADELS_CACHE_DIR": "~/cache"}) == (Path.home() / "cache",)
    monkeypatch.chdir(tmp_path)
    assert _cache._folders({"CITADELS_CACHE_DIR": "cache"}) == (tmp_path / "cache",)
    default = _cache._folders({"CITADELS_CACHE_DIR": ""})
    assert default[0].name == "citadels_env"
    assert all(ROOT / "citadels_env" not in folder.parents for folder in default)
    monkeypatch.setattr(_cache.config, "CACHE_DIR", str(tmp_path / "numba"))
    assert _cache._folders({}) == (tmp_path / "numba" / "citadels_env",)
    assert _cache._folders({"CITADELS_CACHE_DIR": "mine"}) == (tmp_path / "mine", tmp_path / "numba" / "citadels_env")


def test_an_account_without_a_home_has_no_folder_called_tilde(monkeypatch):
    monkeypatch.setattr(_cache.config, "CACHE_DIR", "")
    monkeypatch.setattr(_cache, "user_cache_path", lambda name: Path("~/.cache") / name)
    assert all(folder.is_relative_to(sys.prefix) for folder in _cache._folders({}))


def test_a_virtual_environment_holds_the_cache_where_the_home_cannot(monkeypatch, tmp_path):
    monkeypatch.setattr(_cache.config, "CACHE_DIR", "")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    assert _cache._folders({})[1:] == (tmp_path / "venv" / ".cache" / "citadels_env",)
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)  # the system's Python: nothing is written there
    assert len(_cache._folders({})) == 1


def test_matplotlib_keeps_its_fonts_beside_the_compiled_code_where_the_home_cannot_be_written(monkeypatch, tmp_path, blocked):
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    monkeypatch.setenv("CITADELS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(blocked))
    assert citadels_experiments._matplotlib_folder() == str(tmp_path / "cache" / "matplotlib")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "new" / "config"))
    assert citadels_experiments._matplotlib_folder() is None
    monkeypatch.setenv("XDG_CONFIG_HOME", str(blocked))
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    assert citadels_experiments._matplotlib_folder() is None
    monkeypatch.delenv("MPLCONFIGDIR")
    monkeypatch.delenv("CITADELS_CACHE_DIR")
    assert citadels_experiments._matplotlib_folder() is None


def age(place, days):
    then = time.time() - days * _cache.DAY
    os.utime(place / "version.json", (then, then))


def test_versions_that_nobody_used_for_a_month_are_removed(folders, monkeypatch):
    for version in (A, B):
        keep(version)
    age(folders[0] / A, 31)
    age(folders[0] / B, 29)
    old = folders[0] / ("d" * 16) / "citadels_env_0123"  # as an older release wrote it
    old.mkdir(parents=True)
    (old / "batch.advance-46.py311.1.nbc").write_bytes(b"old")
    (old / "batch.advance-46.py311.nbi").write_bytes(b"old")
    for path in (*old.iterdir(), old.parent):
        os.utime(path, (1e9, 1e9))
    keep(C)
    assert sorted(path.name for path in folders[0].iterdir()) == [B, C]


def test_using_a_version_keeps_it_and_is_noted_once_a_day(folders, monkeypatch):
    keep()
    stamp = folders[0] / A / "version.json"
    age(folders[0] / A, 0.5)
    before = stamp.stat().st_mtime
    monkeypatch.setattr(_cache, "_touched", set())
    _cache.load(A, "points-1", "key")
    assert stamp.stat().st_mtime == before
    age(folders[0] / A, 31)
    keep(B)  # the month is over, but A is used at this moment
    keep(A)
    age(folders[0] / A, 20)
    monkeypatch.setattr(_cache, "_touched", set())
    _cache.load(A, "points-1", "key")
    assert time.time() - stamp.stat().st_mtime < 60


def test_what_is_not_ours_is_never_removed(folders):
    stranger = folders[0] / ("e" * 16)
    stranger.mkdir(parents=True)
    for name in ("thesis.tex", "batch.nbc", "version.json"):
        (stranger / name).write_text("{}")
        os.utime(stranger / name, (1e9, 1e9))
    (folders[0] / "notes.nbi").write_text("")
    keep(A)
    assert warmup.clear()[1] == []
    assert sorted(path.name for path in folders[0].iterdir()) == ["e" * 16, "notes.nbi"]
    assert len(list(stranger.iterdir())) == 3


# --- the commands ------------------------------------------------------------------


def invoke(*arguments, code=0):
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_the_command_shows_folder_versions_size_and_last_use(folders):
    keep(A)
    keep(A, name="doubled-1")
    keep(B, data=b"x" * 3_000_000)
    age(folders[0] / A, 3.5)
    text = invoke("cache")
    assert str(folders[0]) in text
    lines = {line.split()[0]: line for line in text.splitlines() if line[:1] in ("a", "b")}
    assert " 2 " in lines[A]
    assert "3 days ago" in lines[A]
    assert "3.0 MB" in lines[B]
    assert "today" in lines[B]
    assert "tiny; cpython-311, Numba 1" in lines[B]
    assert "30 days" in text
    assert invoke("cache", "--path").strip() == str(folders[0])


def test_the_command_names_the_version_in_use(folders):
    (name,) = {_jit._version(batch.count_scores._cache.sources)[0]} if _jit.COMPILED else {A}
    keep(name)
    assert "(now)" in invoke("cache") or not _jit.COMPILED


def test_the_command_clears_all_or_what_is_old(folders):
    for version in (A, B, C):
        keep(version)
    age(folders[0] / A, 9)
    assert "removed 1 version," in invoke("cache", "--unused", 7)
    assert sorted(path.name for path in folders[0].iterdir()) == [B, C]
    assert "removed 2 versions" in invoke("cache", "--clear")
    assert "it is empty" in invoke("cache")
    assert "removed 0 versions" in invoke("cache", "--clear")
    assert "exclude each other" in invoke("cache", "--clear", "--path", code=2)


def test_the_command_works_without_any_folder(folders, monkeypatch):
    folders[0].write_text("")
    assert "cannot be written" in invoke("cache")
    monkeypatch.setattr(_cache, "FOLDERS", ())
    assert "CITADELS_CACHE_DIR" in invoke("cache")
    assert invoke("cache", "--path").strip() == ""


def test_compiling_ahead_says_at_once_that_nothing_can_be_kept(folders, blocked, monkeypatch):
    monkeypatch.setattr(_cache, "FOLDERS", (blocked,))
    text = invoke("warmup", code=1)
    assert str(blocked) in text
    assert "CITADELS_CACHE_DIR" in text


# All that a user may call next, in a program of its own.
EVERYTHING = """
import logging
import gymnasium, numpy as np
from citadels_agents import Collector, SeatedBatch, View, make, play_games, play_to_end, registry, rollout
from citadels_agents.networks import Network, NetworkAgent
from citadels_env import AMERICAN, GERMAN, Batch, Game, _jit, citadels_v0, observation
from citadels_env.actions import N_ACTIONS

six = AMERICAN.with_(players=6, add_districts="all")
game = Game(six, 3)
for _ in range(20):
    game.step(int(game.legal_indices()[-1]))
game.play(game.legal()[0]), game.observation(), game.observation(1, compact=True), game.redeal(0, 1), game.clone(), game.scores(), str(game)
Game.replay(game.notation())
Game.of_state(six, game._states)
Game.from_position(GERMAN, {"players": [{"gold": 5}] * 4, "called": 3})
for more in ({}, {"compact": True}, {"threads": 2}, {"auto_reset": False, "rewards": "rank"}):
    games = Batch(six, 600, **more)
    games.observations()
    for _ in range(3):
        games.step(games.masks().argmax(1))
    games.play_out()
env = citadels_v0.env(num_players=5)
env.reset(seed=1)
env.step(int(np.flatnonzero(env.last()[0]["action_mask"] if isinstance(env.last()[0], dict) else env.last()[4]["action_mask"])[0]))
for name in ("random", "heuristic", "ismcts:iterations=3", "ismcts:iterations=3,trees=2"):
    env = gymnasium.make("citadels_env:Citadels-v0", opponents=name, seat=3)
    seen, info = env.reset(seed=1)
    env.step(int(np.flatnonzero(env.unwrapped.action_masks())[0]))
    envs = gymnasium.make_vec("citadels_env:Citadels-v0", num_envs=3, opponents=name, seat=3)
    envs.reset(seed=1)
    envs.step(envs.unwrapped.action_masks().argmax(1))
def policy(seen, masks):
    return np.zeros((len(seen), N_ACTIONS), np.float32), np.zeros(len(seen), np.float32)
for opponents in ("self", "expert", {"random": 1, "self": 2}):
    games = SeatedBatch([GERMAN, six], 40, opponents=opponents, own_seat=None, threads=2, final_observations=True)
    collector = Collector(games, 30)
    collector.stagger(4)
    for _ in range(2):
        columns, ended = collector.collect([policy])
    rollout.legal_lists(columns[0]["masks"])
play_to_end(SeatedBatch(GERMAN, 3, opponents="random", auto_reset=False), [policy])
class First:
    name = "first"
    def act(self, view):
        view.determinise(1)
        return view.legal()[0]
play_games(six, "expert", 600, threads=2, rotate=True)
play_games(GERMAN, ["ismcts:iterations=2", "cheating:iterations=2", "random", "expert:inference=none"], 2)
play_games(GERMAN, [First(), "random", "heuristic", "random"], 1)
play_games(six, "expert", 3, record=True)
shapes = {"body.0": (4, observation.size()), "policy": (N_ACTIONS, 4), "value": (1, 4)}
tensors = {f"{name}.weight": np.zeros(shape, np.float32) for name, shape in shapes.items()}
tensors |= {f"{name}.bias": np.zeros(shape[0], np.float32) for name, shape in shapes.items()}
for choice in ("best", "sample"):
    network = NetworkAgent("network", Network(tensors), choice)
    play_games(GERMAN, [network, "random", "heuristic", "ismcts:iterations=2"], 2)
    network.act(View(Game(GERMAN), 1)), network.explain(Game(GERMAN))
    gymnasium.make("citadels_env:Citadels-v0", opponents=network, seat=3).reset(seed=1)
game = Game(six, 3)
for name in ("random", "heuristic", "ismcts:iterations=3", "ismcts:milliseconds=5", "cheating:iterations=3"):
    agent = make(name)
    agent.explain(game)
    if not agent.cheats:
        agent.act(View(game, 1))
registry.belief_table(game, 1)
registry.choices(Batch(GERMAN, 5).states, "expert")
never = [entry.__name__ for entry in _jit.ENTRIES if not entry.signatures and entry.__module__.split(".")[0] != "citadels_experiments"]
print("never called:", never)
"""


@pytest.mark.slow
@compiled_only
def test_after_compiling_ahead_nothing_that_a_user_calls_is_compiled(tmp_path):
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("", "agents", "experiments"))
    environment = dict(os.environ, PYTHONPATH=paths, CITADELS_CACHE_DIR=str(tmp_path / "cache"))

    def python(*arguments):
        done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done

    assert "ready" in python("-m", "citadels_experiments.cli", "warmup").stdout
    done = python("-c", EVERYTHING)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "never called: []"
    again = python("-m", "citadels_experiments.cli", "warmup", "--processes", "1")
    assert COMPILING not in again.stderr
    assert "(now)" in python("-m", "citadels_experiments.cli", "cache").stdout


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("cache", ["elsewhere", "nowhere"])
def test_a_study_runs_with_a_home_that_cannot_be_written(tmp_path, blocked, cache):
    paths = os.pathsep.join(str(ROOT / folder) for folder in ("", "agents", "experiments"))
    home = {name: str(blocked) for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    folder = tmp_path / "cache" if cache == "elsewhere" else blocked / "cache"
    environment = {name: value for name, value in os.environ.items() if name not in ("MPLCONFIGDIR", "NUMBA_CACHE_DIR")}
    environment |= {**home, "PYTHONPATH": paths, "CITADELS_CACHE_DIR": str(folder)}
    roles = "Assassin,Thief,Magician,King,Bishop,Merchant,Architect,Warlord,Artist"
    command = ["study", "role-sets", "--roles", roles, "--games", "20", "--out", "out"]
    done = subprocess.run(
        [sys.executable, "-m", "citadels_experiments.cli", *command], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "role_sets.png").exists()
    assert done.stderr.count(CANNOT_KEEP) == (cache == "nowhere")
    assert ("matplotlib" in done.stderr.lower()) == (cache == "nowhere")
