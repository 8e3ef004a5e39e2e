"""The `citadels` command."""

import json
import re

import pytest
from click.testing import CliRunner

import citadels_env
from citadels_agents import play_games, registry
from citadels_env import DISTRICTS, EDITIONS, ROLES, Game, Rules
from citadels_env.rules import Rules as RulesClass
from citadels_experiments import cli, folders, progress, tournament

FOUR_SETS = ["--roles", "Assassin,Thief,Magician,King", "--roles", "Bishop, Merchant"]
SMALL = ["study", "role-sets", *FOUR_SETS, "--games", "20", "--agents", "random"]


def invoke(*arguments, code=0):
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_role_sets_writes_what_it_says(tmp_path):
    out = tmp_path / "study"
    text = invoke(*SMALL, "--out", out)
    assert "4 role sets, 4 players, german rules, all 15 new districts, 20 games per set, agents random, seed 0" in text
    for heading in ("ALL 4 SETS TOGETHER (80 games)", "Navigator for Architect", "Diplomat for Warlord", "ROLE SETS"):
        assert heading in text
    names = {".lock", "manifest.json", "parts.jsonl", "sets.csv", "roles.csv", "roles_overall.csv", "pairs.csv", "role_sets.png"}
    assert {path.name for path in out.iterdir()} == names
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["parameters"]["games"] == 20
    assert manifest["parameters"]["rules"]["add_districts"] == list(Rules(add_districts="all").add_districts)


def test_the_same_command_again_plays_nothing_and_says_the_same(tmp_path):
    first = invoke(*SMALL, "--out", tmp_path / "a")
    again = invoke(*SMALL, "--out", tmp_path / "a", "--threads", 1)
    assert "holds 4 of 4 sets already" in again
    fresh = invoke(*SMALL, "--out", tmp_path / "b", "--threads", 2)

    def tables(text):
        return text[text.index("ALL 4 SETS") : text.index("wrote ")]

    assert tables(first) == tables(again) == tables(fresh)
    for name in ("sets.csv", "roles.csv", "pairs.csv", "role_sets.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_folder_of_another_study_is_refused(tmp_path):
    invoke(*SMALL, "--out", tmp_path / "a")
    text = invoke(*SMALL, "--seed", 1, "--out", tmp_path / "a", code=1)
    assert "seed: 0 there, 1 asked for" in text
    assert "Traceback" not in text


def test_a_half_width_stands_for_a_number_of_games(tmp_path):
    text = invoke(*SMALL[:-4], "--agents", "random", "--half-width", 10, "--margin", 20, "--out", tmp_path)
    assert "73 games per set" in text  # 0.25 * 0.75 * (1.96 / 0.1)²
    assert "fair ±20" in text
    assert "give one of them" in invoke(*SMALL, "--half-width", 10, "--out", tmp_path, code=2)
    assert "0<x<50" in invoke(*SMALL[:-4], "--half-width", 0, code=2)


def test_results_go_to_a_folder_named_by_the_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    invoke(*SMALL, "--players", 5, "--roles", "Queen", "--edition", "french", "--districts", "none")
    (folder,) = (tmp_path / "results").iterdir()
    assert re.fullmatch("role-sets-5-french-none-assassin-thief-magician-king-bishop-[0-9a-f]{8}", folder.name)
    assert (folder / "sets.csv").exists()


def test_the_version_is_printed():
    assert invoke("--version") == f"citadels {citadels_env.__version__}\n"


def test_rules_print_as_json_that_people_can_read():
    lines = invoke("rules", "--edition", "French", "--json").splitlines()
    assert len(lines) > 50
    assert '  "base_deck": "french",' in lines


def test_rules_print_as_json_and_come_back_from_a_file(tmp_path):
    text = invoke("rules", "--edition", "american", "--players", 6, "--districts", "Museum,Park", "--json")
    assert Rules.from_json(text) == EDITIONS["american"].with_(players=6, add_districts=("Museum", "Park"))
    file = tmp_path / "mine.json"
    file.write_text(text)
    assert "american" in invoke("rules", "--rules", file)
    out = tmp_path / "out"
    text = invoke(*SMALL, "--roles", "Architect,Warlord,Artist", "--rules", file, "--out", out)
    assert "1 role sets, 6 players, mine.json rules, new districts: Park, Museum" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["study", "role-sets", "--players", "9"], "2<=x<=8"),
        (["study", "role-sets", "--players", "2", "--size", "9"], "S-2"),
        (["study", "role-sets", "--roles", "Joker"], "no role 'Joker'"),
        (["study", "role-sets", "--roles", "wich,King"], "no role 'wich'; did you mean 'Witch'? The roles are"),
        (["study", "role-sets", "--agents", "exprt"], "no agent 'exprt'; did you mean 'expert'? The agents are"),
        (["study", "role-sets", "--agents", "mine=exprt"], "did you mean 'expert'"),
        (["study", "role-sets", "--edition", "germn"], "no edition 'germn'; did you mean 'german'? The editions are"),
        (["study", "role-sets", "--districts", "musem"], "did you mean 'Museum'"),
        (["tournament", "expert", "randm"], "no agent 'randm'; did you mean 'random'? The agents are"),
        (["tune", "--start", "buildr"], "no persona 'buildr'; did you mean 'builder'? The personas are"),
        (["study", "role-sets", "--roles", "Queen"], "S-5"),
        (["study", "role-sets", "--districts", "Casino"], "Casino"),
        (["study", "role-sets", "--agents", "random,random"], "each of the 4 seats"),
        (["rules", "--roles", "King,Emperor"], "one role of each rank"),
    ],
)
def test_mistakes_are_named(arguments, message):
    text = invoke(*arguments, code=2)
    assert message in text
    assert "Usage:" in text


def test_options_of_agents_may_hold_commas():
    assert cli._specs("ismcts:iterations=20,persona=expert, random,expert:inference=none") == (
        "ismcts:iterations=20,persona=expert",
        "random",
        "expert:inference=none",
    )


def test_edition_and_rules_file_exclude_each_other(tmp_path):
    file = tmp_path / "r.json"
    file.write_text("{}")
    assert "exclude each other" in invoke("rules", "--edition", "french", "--rules", file, code=2)


def test_a_broken_rules_file_is_named(tmp_path):
    file = tmp_path / "r.json"
    file.write_text("[1]")
    assert "JSON object" in invoke("rules", "--rules", file, code=2)
    file.write_text("{players: 4}")
    assert "Error" in invoke("rules", "--rules", file, code=2)


def test_the_editions_offered_are_those_there_are():
    option = next(p for p in cli.role_sets.params if p.name == "edition")
    assert option.type.name.split("|") == list(EDITIONS)


def test_roles_prints_all_of_them():
    lines = invoke("roles").splitlines()[2:]
    assert [line.split("  ")[1].strip() if line.startswith("   ") else line for line in lines]
    assert len(lines) == 18
    for row, line in zip(ROLES, lines, strict=True):
        assert row.name in line
        assert row.text in line


def test_districts_prints_all_of_them():
    text = invoke("districts")
    for row in DISTRICTS:
        assert sum(line.startswith(row.name + " ") for line in text.splitlines()) == 1
    assert any(line.split() == ["Church", "religious", "2", "2", "3/4/3"] for line in text.splitlines())
    assert any(line.split()[:5] == ["Factory", "unique", "5/5/6", "5/5/6", "new"] for line in text.splitlines())


def test_options_prints_all_of_them():
    text = invoke("options")
    for name in RulesClass.__dataclass_fields__:
        if name not in ("players", "roles"):
            assert sum(line.startswith(name + " ") for line in text.splitlines()) == 1
    line = next(line for line in text.splitlines() if line.startswith("quarry "))
    assert line.split()[1:4] == ["discount", "any_duplicates", "one_duplicate"]


def test_warmup_says_when_it_is_ready():
    assert "ready after" in invoke("warmup")


# --- what is said beside the results --------------------------------------------


def streams(*arguments):
    """What a command writes to standard output and to standard error."""
    result = CliRunner().invoke(cli.main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout, result.stderr


def test_names_are_read_in_any_case_on_the_command_line(tmp_path):
    text = invoke(*SMALL[:-1], "Random", "--edition", "French", "--districts", "NONE", "--out", tmp_path / "a")
    assert "french rules, no new districts, 20 games per set, agents random" in text


def test_two_roles_of_a_rank_are_said_to_mean_either(tmp_path):
    text = invoke(
        "study", "role-sets", "--roles", "witch,Assassin,Thief,Magician,King,Bishop,Merchant,Architect,Warlord", "--games", 10,
        "--agents", "random", "--out", tmp_path / "a",
    )  # fmt: skip
    assert "2 role sets" in text
    assert "only sets with rank 1: Assassin or Witch (all there are); rank 2: Thief; rank 3: Magician" in text
    assert "of two roles of one rank either" in " ".join(invoke("study", "role-sets", "--help").split())


@pytest.mark.parametrize("where", ["before", "after"])
def test_quiet_commands_write_nothing_but_results(tmp_path, where):
    loud, quiet = tmp_path / "a", tmp_path / "b"
    invoke(*SMALL, "--out", quiet)
    arguments = ["--quiet", *SMALL] if where == "before" else [*SMALL, "--quiet"]
    out, err = streams(*arguments, "--out", quiet)
    assert err == ""
    assert "ROLE SETS" in out
    invoke(*SMALL, "--out", loud)
    assert "holds 4 of 4 sets already" in streams(*SMALL, "--out", loud)[1]


def test_no_carriage_returns_go_into_files(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    for arguments in ([*SMALL, "--out", tmp_path / "a"], ["tournament", "random", "heuristic", "--blocks", 4, "--out", tmp_path / "b"]):
        out, err = streams(*arguments)
        assert "\r" not in out + err
        assert re.search(r"^(4 players: )?[\d,]+ of [\d,]+ (sets|games)$", err, re.MULTILINE)


# --- agents of one's own ----------------------------------------------------------

REGISTERING = """
from citadels_agents import alias, register

class Last:
    name = "last"

    def act(self, view):
        return int(view.legal_indices()[-1])

register("cli-last", Last)
alias("cli-calm", "expert:inference=none")
"""


@pytest.fixture
def own_agents(tmp_path):
    file = tmp_path / "own_agents.py"
    file.write_text(REGISTERING)
    yield file
    registry._FACTORIES.pop("cli-last", None)
    for name in ("cli-calm", "mine"):
        registry._ALIASES.pop(name, None)
    registry._FILES.clear()


def test_studies_take_agents_from_files_and_aliases(tmp_path, own_agents):
    out = tmp_path / "study"
    roles = "Assassin,Thief,Magician,King,Bishop,Merchant,Architect,Warlord"
    study = ["study", "role-sets", "--roles", roles, "--games", 4, "--agents-from", own_agents, "--out", out]
    text = invoke(*study, "--agents", "cli-last,cli-calm,mine=ismcts:iterations=3,persona=heuristic,random")
    assert "agents cli-last, cli-calm, mine, random, seed 0" in text
    assert any(line.split()[:2] == ["2", "mine"] for line in text.splitlines())
    parameters = json.loads((out / "manifest.json").read_text())["parameters"]
    assert parameters["agents"] == ["cli-last", "cli-calm", "mine", "random"]
    assert parameters["aliases"] == {"cli-calm": "expert:inference=none", "mine": "ismcts:iterations=3,persona=heuristic"}
    assert parameters["modules"][0][0] == own_agents.name
    assert "played with --agents-from own_agents.py" in invoke("games", out, "--set", 0, "--game", 3, code=1)
    game = Game.replay(invoke("games", out, "--set", 0, "--game", 3, "--agents-from", own_agents))
    row = json.loads((out / "parts.jsonl").read_text())
    assert game.over
    played = play_games(game.rules, parameters["agents"], 4, seed=row["seed"])[3]
    assert game.scores() == tuple(played["scores"][:4].tolist())


def test_games_of_a_tournament_are_taken_out_whoever_played_them(tmp_path, own_agents):
    out = tmp_path / "t"
    invoke(
        "tournament", "cli-last", "mine=ismcts:iterations=3", "expert", "--blocks", 2, "--design", "mixed", "--agents-from", own_agents,
        "--out", out,
    )  # fmt: skip
    shares = (out / "players-4" / "shares.csv").read_text()
    assert "mine," in shares
    assert "ismcts" not in shares
    assert "has no manifest.json" in invoke("games", tmp_path / "none", "--set", 0, "--game", 0, code=1)
    assert "it holds players-4" in invoke("games", out, "--replicate", 1, "--block", 0, "--game", 2, code=1)
    folder = out / "players-4"
    rows = (folder / "games.csv").read_text().splitlines()
    columns = rows[0].split(",")
    for line in rows[1::5]:
        row = dict(zip(columns, line.split(","), strict=True))
        where = [part for name in ("replicate", "block", "game") for part in (f"--{name}", row[name])]
        game = Game.replay(invoke("games", folder, *where, "--agents-from", own_agents))
        assert (str(game.seed), [str(n) for n in game.scores()]) == (row["seed"], [row[f"score_{seat}"] for seat in range(4)])
    assert "replicate must be 0 to 1" in invoke(
        "games", folder, "--replicate", 2, "--block", 0, "--game", 0, "--agents-from", own_agents, code=1
    )
    assert "name the game by --replicate" in invoke("games", folder, "--set", 2, "--game", 0, "--agents-from", own_agents, code=1)


def test_a_game_that_would_be_another_one_is_not_taken_out(tmp_path):
    invoke(*SMALL, "--out", tmp_path / "s")
    manifest = tmp_path / "s" / folders.MANIFEST
    found = folders.read_sealed(manifest)
    folders.write_sealed(manifest, {**found, "parameters": {**found["parameters"], "sources": "other"}})
    assert "other versions of rules or agents" in invoke("games", tmp_path / "s", "--set", 0, "--game", 0, code=1)
    invoke("tournament", "random", "heuristic", "--blocks", 2, "--out", tmp_path / "t")
    folder = tmp_path / "t" / "players-4"
    games = tournament._files(folder, tournament.manifest(folder)["parameters"]).games
    cells, *others = (line.split(",") for line in games.read())
    cells[games.header.split(",").index("score_0")] = "99"
    games.put([",".join(cells), *map(",".join, others)])  # with checksums that fit
    where = ["--replicate", 0, "--block", 0, "--game", 0]
    assert "does not play the same game twice (score_0 99 there" in invoke("games", tmp_path / "t" / "players-4", *where, code=1)
