"""Folders of results: one writer, nothing changed unnoticed, disks that fail, and studies and tournaments that are extended."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import citadels_agents
from citadels_agents import play_games
from citadels_env import AMERICAN, GERMAN
from citadels_experiments import cli, folders, study, tournament, tuning, value
from citadels_experiments.folders import FolderError, Lines
from citadels_experiments.tournament import Tournament

ROOT = Path(__file__).parent.parent
PATHS = os.pathsep.join(str(ROOT / name) for name in (".", "agents", "experiments"))
STUDY = study.Study(
    GERMAN,
    tuple(study.role_sets(4, only=("Assassin", "Thief", "Magician", "King", "Bishop", "Merchant"))),
    agents=("random",),
    games=24,
    seed=5,
)
TOURNAMENT = Tournament(GERMAN.with_(players=2), ("heuristic", "random"), blocks=3)


def command(*arguments):
    """The `citadels` command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "citadels_experiments.cli", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": PATHS},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path, process, size=1):
    deadline = time.monotonic() + 300
    while not (path.exists() and path.stat().st_size >= size):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def play(what, folder):
    """Play a study or a tournament into a folder and write its tables."""
    if isinstance(what, study.Study):
        study.write_tables(study.run(what, folder), folder)
    else:
        tournament.write_results(what, tournament.run(what, folder), folder)


def content(folder):
    """All files of a folder, but for the times in which sets were played and the checksums that depend on them."""
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    if "parts.jsonl" in found:
        found["parts.jsonl"] = re.sub(rb', "seconds": [0-9.]+, "check": "[0-9a-f]+"', b"", found["parts.jsonl"])
    return found


def watch(monkeypatch, before=lambda: None, after=lambda games, named: None):
    """Call functions before and after games are played."""

    def watched(original):
        def play(*arguments, **named):
            before()
            games = original(*arguments, **named)
            after(games, named)
            return games

        return play

    monkeypatch.setattr(study, "play_games", watched(study.play_games))
    monkeypatch.setattr(tournament, "play_lineups", watched(tournament.play_lineups))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder of a study and one of a tournament."""
    made = {}
    for name, what in (("study", STUDY), ("tournament", TOURNAMENT)):
        made[name] = what, tmp_path_factory.mktemp("kept") / name
        play(*made[name])
    return made


# --- one writer ------------------------------------------------------------------------------------------------------


def test_a_folder_has_one_writer_who_is_named(tmp_path):
    code = "import sys, time; from pathlib import Path; from citadels_experiments import folders\n" + (
        "with folders.writer(Path(sys.argv[1]), 'study'):\n    (Path(sys.argv[1]) / 'manifest.json').touch(); time.sleep(300)"
    )
    folder = tmp_path / "results"
    process = subprocess.Popen([sys.executable, "-c", code, str(folder)], env={**os.environ, "PYTHONPATH": PATHS})
    wait_for(folder / "manifest.json", process, 0)
    with pytest.raises(FolderError) as caught, folders.writer(folder, "study"):
        pass
    assert str(caught.value).startswith(f"{folder} is being written by process {process.pid} on ")
    process.send_signal(signal.SIGKILL)
    process.wait()
    with folders.writer(folder, "study"):
        assert (folder / ".lock").read_text().startswith(f"process {os.getpid()} on ")
    assert (folder / ".lock").read_text() == ""


def test_a_writer_may_enter_again_but_no_other_thread(tmp_path):
    found = []

    def other():
        try:
            with folders.writer(tmp_path, "study"):
                found.append("entered")
        except FolderError as error:
            found.append(str(error))

    def in_a_thread(target):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()

    outer = folders.writer(tmp_path, "study")
    with folders.writer(tmp_path, "study"):
        in_a_thread(other)
    in_a_thread(other)
    assert all("written by another thread of this process" in text for text in found)
    in_a_thread(outer.release)
    outer.release()  # once more does no harm
    in_a_thread(other)
    assert found[2:] == ["entered"]


def test_a_folder_that_was_not_used_goes_again(tmp_path):
    with pytest.raises(ZeroDivisionError), folders.writer(tmp_path / "a" / "b", "study"):
        raise ZeroDivisionError
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("what", [STUDY, TOURNAMENT], ids=["study", "tournament"])
def test_nothing_is_played_into_a_folder_that_somebody_else_writes(tmp_path, what):
    holder = folders.writer(tmp_path, "study")
    found = []

    def other():
        try:
            play(what, tmp_path)
        except FolderError as error:
            found.append(str(error))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    holder.release()
    assert len(found) == 1
    assert str(tmp_path) in found[0]
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "folder", "file"),
    [
        (("study", "role-sets", "--roles", "Assassin,Thief,Magician", "--games", 300, "--threads", 1), "", "parts.jsonl"),
        (("tournament", "heuristic", "random", "--players", 2, "--blocks", 2500, "--threads", 1), "players-2", "games.csv"),
    ],
    ids=["study", "tournament"],
)
def test_two_at_once_and_killed_in_the_middle_the_command_ends_as_if_undisturbed(tmp_path, arguments, folder, file):
    first = command(*arguments, "--out", tmp_path / "a")
    wait_for(tmp_path / "a" / folder / file, first)
    first.send_signal(signal.SIGSTOP)  # so that it cannot be finished before the second one looks
    before = (tmp_path / "a" / folder / file).read_bytes()
    second = command(*arguments, "--out", tmp_path / "a")
    out, error = second.communicate(timeout=300)
    assert second.returncode == 1, out
    assert f"Error: {tmp_path / 'a' / folder} is being written by process {first.pid} on " in error.replace("\n", " ").replace("  ", " ")
    assert "Traceback" not in error
    assert first.poll() is None
    first.send_signal(signal.SIGCONT)
    time.sleep(0.2)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert (tmp_path / "a" / folder / file).read_bytes().startswith(before)
    for name in ("a", "b"):
        again = command(*arguments, "--out", tmp_path / name)
        assert again.wait(timeout=300) == 0, again.communicate()
    one, two = (content(tmp_path / name / folder) for name in ("a", "b"))
    for ignored in ("speed.json", "tournament.png"):  # which show measured speeds
        one.pop(ignored, None), two.pop(ignored, None)
    assert one == two


def refusal(what, folder):
    """What is said against playing into a folder; nothing if it is played."""
    try:
        play(what, folder)
    except FolderError as error:
        return str(error)
    return ""


# --- what was changed is refused -------------------------------------------------------------------------------------


@st.composite
def mutations(draw):
    """A change of the bytes of a file: a function of them."""
    kind = draw(st.sampled_from(["edit", "delete", "double", "swap", "insert", "cut", "append"]))
    one, two = draw(st.floats(0, 1, exclude_max=True)), draw(st.floats(0, 1, exclude_max=True))
    sign = draw(st.sampled_from(b'0123456789 ,."{}ax\x00\xff\n'))

    def mutate(data):
        lines = data.splitlines(keepends=True)
        i, j = int(one * len(lines)), int(two * len(lines))
        if kind == "edit":
            place = int(one * len(data))
            return data[:place] + bytes([sign]) + data[place + 1 :]
        if kind == "delete":
            del lines[i]
        elif kind == "double":
            lines.insert(j, lines[i])
        elif kind == "swap":
            lines[i], lines[j] = lines[j], lines[i]
        elif kind == "insert":
            place = int(one * len(data))
            return data[:place] + bytes([sign]) + data[place:]
        elif kind == "cut":
            return data[: int(one * len(data))]
        else:
            lines += lines[: j + 1]
        return b"".join(lines)

    return mutate


@pytest.mark.parametrize(
    ("name", "file"), [("study", "parts.jsonl"), ("study", "manifest.json"), ("tournament", "games.csv"), ("tournament", "manifest.json")]
)
def test_a_kept_file_that_was_changed_is_refused_by_name_or_the_change_does_no_harm(kept, tmp_path_factory, name, file):
    what, original = kept[name]
    expected = content(original)

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mutations())
    def check(mutate):
        folder = tmp_path_factory.mktemp("changed") / name
        shutil.copytree(original, folder)
        changed = mutate((folder / file).read_bytes())
        (folder / file).write_bytes(changed)
        message = refusal(what, folder)
        if message:
            assert str(folder / file) in message
            assert file == "manifest.json" or re.search(r"line \d+", message)
            assert "\n" not in message
            assert (folder / file).read_bytes().startswith(changed[: changed.rfind(b"\n") + 1])
        else:
            found = content(folder)
            if file == "manifest.json":
                assert json.loads(found.pop(file)) == json.loads(expected[file])
            assert found == {path: text for path, text in expected.items() if path in found}
            assert len(expected) - len(found) == (file == "manifest.json")
        shutil.rmtree(folder.parent)

    check()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], r"line 2: this is line 3 of what was written"),
        (lambda lines: [*lines[:2], *lines[3:]], r"line 3: this is line 4 of what was written"),
        (lambda lines: [*lines, lines[-1]], r"line 7: this is line 6 of what was written"),
        (lambda lines: [*lines[:3], lines[3].replace("b", "c"), *lines[4:]], r"line 4: its checksum does not fit; the line was changed"),
        (lambda lines: [*lines[:3], "\n", *lines[3:]], r"line 4: it has no checksum"),
        (lambda lines: ["a,b\n", *lines[1:]], r"line 1: the header was changed; it is one,two,check"),
        (lambda lines: lines[1:], r"line 1: the header was changed"),
    ],
    ids=["swapped", "deleted", "doubled", "edited", "empty line", "other header", "no header"],
)
def test_messages_name_file_line_and_why(tmp_path, change, message):
    file = tmp_path / "table.csv"
    Lines(file, b"key", "one,two").add(f"a{k},b{k}" for k in range(5))
    assert Lines(file, b"key", "one,two").read() == [f"a{k},b{k}" for k in range(5)]
    file.write_text("".join(change(file.read_text().splitlines(keepends=True))))
    with pytest.raises(FolderError, match=re.escape(str(file)) + ", " + message):
        Lines(file, b"key", "one,two").read()


def test_lines_of_another_study_do_not_fit(tmp_path):
    """Even where seeds and line-ups are the same: the parameters are part of the checksum."""
    for name, rules in (("a", GERMAN), ("b", GERMAN.with_(city_size=7))):
        play(replace(TOURNAMENT, rules=rules.with_(players=2)), tmp_path / name)
    shutil.copy(tmp_path / "a" / "games.csv", tmp_path / "b" / "games.csv")
    with pytest.raises(FolderError, match=r"b/games\.csv, line 2: its checksum does not fit"):
        tournament.run(replace(TOURNAMENT, rules=GERMAN.with_(players=2, city_size=7)), tmp_path / "b")
    with pytest.raises(FolderError, match=r"b/games\.csv, line 2"):
        tournament.read_games(tmp_path / "b", 2)


def test_a_folder_of_something_else_is_refused_by_its_kind(kept):
    with pytest.raises(FolderError, match="holds a tournament, not a study"):
        study.run(STUDY, kept["tournament"][1])
    with pytest.raises(FolderError, match="holds a study, not a tournament"):
        tournament.run(TOURNAMENT, kept["study"][1])


def test_an_interruption_before_the_first_result_binds_the_folder_to_nothing(tmp_path):
    folders.claim(tmp_path, STUDY.parameters, "study")
    tournament.run(TOURNAMENT, tmp_path)
    assert tournament.manifest(tmp_path)["parameters"] == TOURNAMENT.parameters


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"manifest\.json is damaged, line 1"),
        ("[" * 100_000, r"manifest\.json is damaged"),
        ("[]", r"holds no JSON object"),
        ("{}", "changed"),
    ],
)
def test_a_manifest_that_is_none_is_named(kept, tmp_path, text, message):
    folder = Path(shutil.copytree(kept["study"][1], tmp_path / "study"))
    (folder / "manifest.json").write_text(text)
    with pytest.raises(FolderError, match=message):
        study.run(STUDY, folder)


class Failing:
    """Raises in its longer games."""

    def __init__(self):
        self.answers = 0

    def act(self, view):
        self.answers += 1
        if self.answers % 60 == 0:
            raise ZeroDivisionError
        return int(view.legal_indices()[0])


def test_a_failed_game_without_its_description_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setitem(citadels_agents.registry._FACTORIES, "failing", Failing)
    t = Tournament(GERMAN.with_(players=2), ("failing", "random"), "duel", blocks=4)
    play(t, tmp_path)
    file = tmp_path / "failures.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) > 1
    for changed, message in (
        (lines[1:], r"failures\.jsonl, line 1: this is line 2"),
        (lines[:-1], r"failures\.jsonl says nothing of game"),
    ):
        file.write_text("".join(changed))
        with pytest.raises(FolderError, match=message):
            tournament.run(t, tmp_path)
    file.write_text("".join(lines))
    tournament.run(t, tmp_path)


# --- disks that fail -------------------------------------------------------------------------------------------------


@contextmanager
def disk_of(size):
    """No file gets larger than `size` bytes: to a program the same as a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("what", [replace(STUDY, games=200), replace(TOURNAMENT, blocks=40)], ids=["study", "tournament"])
@pytest.mark.parametrize("size", [4_000, 9_000, 20_000])
def test_a_full_disk_is_one_clear_line_and_afterwards_the_same_command_goes_on(tmp_path, monkeypatch, what, size):
    monkeypatch.setattr(tournament, "CHUNK_SECONDS", 1e-9)
    with pytest.raises(FolderError, match=r"(parts\.jsonl|games\.csv) could not be written: file too large") as caught, disk_of(size):
        play(what, tmp_path / "full")
    assert "\n" not in str(caught.value)
    (file,) = (path for path in (tmp_path / "full").iterdir() if path.name in ("parts.jsonl", "games.csv"))
    assert file.read_bytes()[-1:] in (b"", b"\n")  # nothing by half
    play(what, tmp_path / "full")
    play(what, tmp_path / "whole")
    assert content(tmp_path / "full") == content(tmp_path / "whole")


@pytest.mark.parametrize("what", [STUDY, TOURNAMENT], ids=["study", "tournament"])
def test_a_folder_deleted_in_mid_run_is_one_clear_line(tmp_path, monkeypatch, what):
    folder, calls = tmp_path / "gone", []
    monkeypatch.setattr(tournament, "CHUNK_SECONDS", 1e-9)

    def deleting():
        calls.append(1)
        if len(calls) == 4:
            shutil.rmtree(folder)

    watch(monkeypatch, before=deleting)
    with pytest.raises(FolderError, match=r"(parts\.jsonl|games\.csv) could not be written: .*gone was deleted or moved away"):
        play(what, folder)
    assert not folder.exists()
    monkeypatch.undo()
    play(what, folder)
    play(what, tmp_path / "whole")
    assert content(folder) == content(tmp_path / "whole")


@pytest.mark.parametrize("change", [lambda file: file.write_bytes(file.read_bytes() * 2), lambda file: file.unlink()])
def test_a_file_that_somebody_else_changes_meanwhile_is_left_alone(tmp_path, change):
    """What two machines would do to each other where a file system keeps its locks to one machine."""
    lines = Lines(tmp_path / "games.csv", b"key", "a,b")
    lines.add(["1,2"])
    change(lines.path)
    before = lines.path.read_bytes() if lines.path.exists() else None
    with pytest.raises(FolderError, match=r"games\.csv (was changed by somebody else|could not be written: it was deleted)"):
        lines.add(["3,4"])
    assert (lines.path.read_bytes() if lines.path.exists() else None) == before


def nothing_is_played(monkeypatch):
    def play(*arguments, **named):
        pytest.fail("a game was played")

    for module, name in ((study, "play_games"), (tournament, "play_lineups"), (tuning, "judge"), (value, "sample")):
        monkeypatch.setattr(module, name, play)


def test_what_cannot_be_written_is_found_out_before_the_first_game(tmp_path, monkeypatch):
    nothing_is_played(monkeypatch)
    (tmp_path / "file").write_text("no folder")
    places = [tmp_path / "file" / "results"] + [Path("/proc/results")] * Path("/proc/self").exists()
    for place in places:
        for what in (STUDY, TOURNAMENT):
            with pytest.raises(FolderError, match=f"{place} cannot be written"):
                play(what, place)
        with pytest.raises(FolderError, match="cannot be written"):
            value.fit(out=place / "value.json")
        pytest.importorskip("cma")
        with pytest.raises(FolderError, match="cannot be written"):
            tuning.tune(out=place / "expert.json")
    with disk_of(0), pytest.raises(FolderError, match="cannot be written: file too large"):
        play(STUDY, tmp_path / "full")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_without_permission_is_found_out_before_the_first_game(tmp_path, monkeypatch):
    nothing_is_played(monkeypatch)
    tmp_path.chmod(0o500)
    with pytest.raises(FolderError, match="cannot be written: permission denied"):
        play(STUDY, tmp_path / "results")
    tmp_path.chmod(0o700)


def test_the_command_says_it_in_one_line(tmp_path):
    (tmp_path / "file").write_text("no folder")
    for arguments in (("study", "role-sets", "--quick"), ("tournament", "random", "heuristic")):
        result = CliRunner().invoke(cli.main, [*arguments, "--out", str(tmp_path / "file" / "results")])
        assert result.exit_code == 1
        assert re.search(r"^Error: .* cannot be written: not a directory", result.output, re.MULTILINE)


# --- extending -------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=5))
def test_counting_in_parts_is_counting_at_once_to_the_last_bit(parts):
    games = play_games(GERMAN, "random", 150, seed=2)[: sum(parts)]
    record, first = None, 0
    for number in parts:
        record = study.count(games[first : first + number], GERMAN.roles, 4, record)
        first += number
    assert record == study.count(games, GERMAN.roles, 4)
    assert study.played(record) == sum(parts)
    sizes = record["games"]
    assert len(sizes) == min(20, sum(parts))
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("rotate", [False, True])
@pytest.mark.parametrize("agents", [["heuristic", "random", "expert", "random"], "python"])
def test_games_can_be_played_from_any_number_on(rotate, agents):
    class First:
        name = "first"

        def act(self, view):
            return view.legal()[0]

    agents = [First(), "random", "random", "random"] if agents == "python" else agents
    whole = play_games(GERMAN, agents, 9, seed=3, rotate=rotate)
    for first in (1, 6):
        part = play_games(GERMAN, agents, 9 - first, seed=3, rotate=rotate, first_game=first)
        assert (part == whole[first:]).all()
    far = play_games(GERMAN, ["random"] * 4, 2, seed=3, first_game=10**15)
    assert len(far) == 2


@pytest.mark.parametrize("wrong", [-1, 1.0, True, "3", 2**63])
def test_the_first_game_is_a_whole_number(wrong):
    with pytest.raises(ValueError, match="first_game must be a whole number"):
        play_games(GERMAN, "random", 2, first_game=wrong)


def steps_of(kind):
    if kind == "more games":
        return [replace(STUDY, games=games) for games in (3, 10, 24)]
    if kind == "more sets":
        return [replace(STUDY, sets=STUDY.sets[2:3]), replace(STUDY, sets=STUDY.sets[1:3]), STUDY]
    if kind == "more of both":
        return [replace(STUDY, sets=STUDY.sets[:2], games=7), STUDY]
    if kind == "paired":
        return [replace(STUDY, games=games, paired=True) for games in (5, 30)]
    if kind == "more blocks":
        return [replace(TOURNAMENT, blocks=blocks) for blocks in (2, 3, 7)]
    return [replace(TOURNAMENT, blocks=blocks, precision=0.2) for blocks in (4, 15, 60)]


@pytest.mark.parametrize("kind", ["more games", "more sets", "more of both", "paired", "more blocks", "more blocks at most"])
def test_what_is_extended_is_what_it_would_have_been_at_once(tmp_path, monkeypatch, kind):
    steps = steps_of(kind)
    play(steps[-1], tmp_path / "whole")
    played = []
    watch(monkeypatch, after=lambda games, named: played.append(0 if named.get("num_games") == 1 else len(games)))  # one: to compile
    for step in steps:
        play(step, tmp_path / "extended")
    assert content(tmp_path / "extended") == content(tmp_path / "whole")
    last = steps[-1]
    if isinstance(last, study.Study):
        assert sum(played) == last.games * len(last.sets)  # every game once
    else:
        assert sum(played) == len(tournament.read_games(tmp_path / "whole", 2))
    played.clear()
    play(last, tmp_path / "extended")
    assert sum(played) == 0


def test_an_extension_that_is_interrupted_goes_on(tmp_path):
    class Stopped(Exception):  # noqa: N818
        pass

    def stopping(stream, total, there):
        assert (total, there) == (4, 0)
        yield next(stream)
        yield next(stream)
        raise Stopped

    play(STUDY, tmp_path / "whole")
    study.run(replace(STUDY, games=5), tmp_path / "cut")
    with pytest.raises(Stopped):
        study.run(STUDY, tmp_path / "cut", progress=stopping)
    with pytest.raises(FolderError, match="24 games of a set already, more than the 5 asked for"):
        study.run(replace(STUDY, games=5), tmp_path / "cut")
    play(STUDY, tmp_path / "cut")
    assert content(tmp_path / "cut") == content(tmp_path / "whole")


def test_portions_of_a_set_change_no_number(monkeypatch):
    whole = study.play_set(STUDY, 1)
    monkeypatch.setattr(study, "PORTION", 7)
    parts = study.play_set(STUDY, 1)
    assert {**whole, "seconds": 0} == {**parts, "seconds": 0}


@pytest.mark.parametrize(
    ("fewer", "message"),
    [
        (replace(STUDY, games=10), "holds 24 games of a set already, more than the 10 asked for"),
        (replace(STUDY, sets=STUDY.sets[:2]), r"holds a set that is not asked for \(Assassin, Thief.*more sets, not fewer"),
        (replace(TOURNAMENT, blocks=2), "holds 3 blocks of each duel already, more than the 2 asked for"),
    ],
)
def test_less_than_there_is_is_refused_and_changes_nothing(kept, fewer, message):
    folder = kept["study" if isinstance(fewer, study.Study) else "tournament"][1]
    before = content(folder)
    with pytest.raises(FolderError, match=message):
        play(fewer, folder)
    assert content(folder) == before


def test_a_set_is_not_named_twice():
    with pytest.raises(ValueError, match="named twice"):
        replace(STUDY, sets=STUDY.sets * 2)


def test_the_quick_study_is_the_beginning_of_the_full_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "QUICK_GAMES", 10)
    monkeypatch.setattr(cli, "FULL_GAMES", 25)
    arguments = ["study", "role-sets", "--roles", "Assassin,Thief,Magician,King,Bishop,Merchant,Architect", "--agents", "random"]
    for quick in (["--quick"], [], []):
        result = CliRunner().invoke(cli.main, [*arguments, *quick])
        assert result.exit_code == 0, result.output
    assert "holds 2 of 2 sets already" in result.output
    (folder,) = (tmp_path / "results").iterdir()
    assert "50 games" in result.output
    result = CliRunner().invoke(cli.main, [*arguments, "--quick"])
    assert result.exit_code == 1
    assert f"{Path('results') / folder.name} holds 25 games of a set already, more than the 10 asked for" in result.output


# --- default folders -------------------------------------------------------------------------------------------------


def test_default_folders_of_studies_are_short_and_tell_them_apart():
    rules = GERMAN.with_(add_districts="all")
    every = tuple(study.role_sets(4))
    witch = tuple(study.role_sets(4, only=("Witch",)))
    six = tuple(study.role_sets(6))
    made = {
        "role-sets-4-german": ("german", study.Study(rules, every)),
        "role-sets-4-german-none": ("german", study.Study(GERMAN, every)),
        "role-sets-4-german-recommended": ("german", study.Study(GERMAN.with_(add_districts="recommended"), every)),
        r"role-sets-4-german-2-districts-\w{8}": ("german", study.Study(GERMAN.with_(add_districts=("Museum", "Park")), every)),
        r"role-sets-4-german-2-districts-\w{8} ": ("german", study.Study(GERMAN.with_(add_districts=("Museum", "Map Room")), every)),
        "role-sets-4-german-8-roles": ("german", study.Study(rules, tuple(study.role_sets(4, 8)))),
        r"role-sets-4-german-witch-\w{8}": ("german", study.Study(rules, witch)),
        r"role-sets-4-german-expert-\w{8}": ("german", study.Study(rules, every, ("expert",))),
        r"role-sets-4-german-expert-random-\w{8}": ("german", study.Study(rules, every, ("expert", "random", "random", "random"))),
        r"role-sets-4-german-random-expert-\w{8}": ("german", study.Study(rules, every, ("random", "expert", "random", "random"))),
        r"role-sets-4-german-expert-\w{8} ": ("german", study.Study(rules, every, ("expert:inference=none",))),
        "role-sets-4-german-seed-7": ("german", study.Study(rules, every, seed=7)),
        "role-sets-4-german-paired": ("german", study.Study(rules, every, paired=True)),
        "role-sets-4-german-seed-7-paired": ("german", study.Study(rules, every, seed=7, paired=True)),
        "role-sets-4-american": ("american", study.Study(AMERICAN.with_(players=4, add_districts="all"), every)),
        "role-sets-6-german": ("german", study.Study(GERMAN.with_(players=6, roles=six[0], add_districts="all"), six)),
        r"role-sets-4-mine-\w{8}": ("mine", study.Study(rules.with_(city_size=7), every)),
        r"role-sets-4-german-\w{8}": ("german", study.Study(rules.with_(city_size=7), every)),
    }
    names = {pattern: study.folder_name(what, edition) for pattern, (edition, what) in made.items()}
    for pattern, name in names.items():
        assert re.fullmatch(pattern.strip(), name), name
        assert len(name) < 80
    assert len(set(names.values())) == len(made)
    for pattern, (edition, what) in made.items():
        assert study.folder_name(replace(what, games=17), edition) == names[pattern]
        assert study.folder_name(replace(what, sets=what.sets[::-1]), edition) == names[pattern]


def test_default_folders_of_tournaments_are_short_and_tell_them_apart():
    german = Tournament(GERMAN, ("heuristic", "random"))
    made = {
        "tournament-heuristic-random": (german, "german"),
        "tournament-random-heuristic": (replace(german, agents=("random", "heuristic")), "german"),
        r"tournament-heuristic-random-\w{8}": (replace(german, seed=3), "german"),
        r"tournament-heuristic-random-\w{8} ": (replace(german, precision=0.1), "german"),
        r"tournament-heuristic-random-\w{8}  ": (replace(german, rules=GERMAN.with_(add_districts="all")), "german"),
        r"tournament-american-heuristic-random-\w{8}": (replace(german, rules=AMERICAN), "american"),
        r"tournament-ismcts-random-\w{8}": (replace(german, agents=("ismcts:iterations=20", "random")), "german"),
        r"tournament-ismcts-random-\w{8} ": (replace(german, agents=("ismcts:iterations=30", "random")), "german"),
    }
    names = {pattern: tournament.folder_name(what, edition) for pattern, (what, edition) in made.items()}
    for pattern, name in names.items():
        assert re.fullmatch(pattern.strip(), name), name
    assert len(set(names.values())) == len(made)
    for pattern, (what, edition) in made.items():
        more = replace(what, blocks=77, rules=what.rules.with_(players=3))
        assert tournament.folder_name(more, edition) == names[pattern]


def test_a_long_name_is_cut_and_stays_unique():
    names = {folders.name_of(["tournament", *["expert"] * 20], {"seed": seed}, True) for seed in range(5)}
    assert len(names) == 5
    assert max(map(len, names)) <= 70
    assert folders.name_of(["Tax Collector", "", "a/b"], {}, True) == "tax-collector-a-b"


# --- tuning ----------------------------------------------------------------------------------------------------------


def test_tuning_has_one_writer_and_notices_a_changed_state(tmp_path, monkeypatch):
    pytest.importorskip("cma")
    monkeypatch.setattr(tuning, "judge", lambda vectors, *rest: np.array([float(np.sum(v)) for v in vectors]))
    options = {"start": "heuristic", "field": ("builder",), "population": 4, "games": 8, "out": tmp_path / "found.json"}
    tuning.tune(**options, generations=2, report=lambda line: None)
    holder, found = folders.Writer(tmp_path / "found.lock", "found.json"), []

    def other():
        with pytest.raises(FolderError, match=r"found\.json is being written"):
            tuning.tune(**options, generations=3, report=found.append)
        found.append("refused")

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    holder.release()
    assert found == ["refused"]
    state = tmp_path / "found.state"
    whole = state.read_bytes()
    for damaged in (whole[:-1], b"", whole[:200] + b"\x00" + whole[201:]):
        state.write_bytes(damaged)
        with pytest.raises(FolderError, match=r"found\.state is damaged"):
            tuning.tune(**options, generations=3, report=found.append)
    state.write_bytes(whole)
    tuning.tune(**options, generations=3, report=lambda line: None)
