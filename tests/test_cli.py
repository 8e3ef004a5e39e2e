"""The `citadels` command."""

import json
import re

import pytest
from click.testing import CliRunner

from citadels_env import DISTRICTS, EDITIONS, ROLES, Rules
from citadels_env.rules import Rules as RulesClass
from citadels_experiments import cli

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


def test_results_go_to_a_folder_named_by_the_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    invoke(*SMALL, "--players", 5, "--roles", "Queen", "--edition", "french", "--districts", "none")
    (folder,) = (tmp_path / "results").iterdir()
    assert re.fullmatch("role-sets-5-french-none-assassin-thief-magician-king-bishop-[0-9a-f]{8}", folder.name)
    assert (folder / "sets.csv").exists()


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
    assert list(option.type.choices) == list(EDITIONS)


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
