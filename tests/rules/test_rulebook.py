"""docs/rulebook.md against the tests and against the code: every number is proved, every value is true."""

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

from citadels_env import AMERICAN, FRENCH, GERMAN
from citadels_env.cards import DISTRICTS, ROLES

HERE = Path(__file__).parent
BOOK = (HERE.parents[1] / "docs" / "rulebook.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ((?:[SXP]-\d+)|(?:[DRB]-[A-Z0-9-]+)|(?:[RI]\d+)|(?:O-[a-z_0-9]+)) \| (.+) \|$", re.MULTILINE)
EXEMPT = "Not in the three classic editions"


def rows() -> list[tuple[str, list[str]]]:
    """The number of each rule with the further cells of its row."""
    return [(number, [cell.strip() for cell in rest.split("|")]) for number, rest in ROW.findall(BOOK)]


def marked(source: str) -> set[str]:
    """The numbers in the `rule` markers of tests in `source`: on functions, or on single parameters."""
    found = set()
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef) or not function.name.startswith("test_"):
            continue
        for call in (node for decorator in function.decorator_list for node in ast.walk(decorator)):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "rule":
                found |= {ast.literal_eval(argument) for argument in call.args}
    return found


def all_marked() -> dict[str, set[str]]:
    """Numbers by test file."""
    return {path.name: marked(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("test_*.py"))}


def test_every_line_of_a_table_is_understood() -> None:
    lines = [line for line in BOOK.splitlines() if line.startswith("|") and not line.startswith(("| number", "|---"))]
    assert [line for line in lines if not ROW.match(line)] == []


def test_no_number_is_given_twice() -> None:
    numbers = [number for number, _ in rows()]
    assert sorted(numbers) == sorted(set(numbers))


@pytest.mark.parametrize(("family", "last"), [("S-", 8), ("X-", 35), ("P-", 10), ("R", 142), ("I", 38)])
def test_the_counted_families_have_no_holes(family: str, last: int) -> None:
    numbers = [number for number, _ in rows() if re.fullmatch(rf"{family}\d+", number)]
    assert numbers == [f"{family}{n}" for n in range(1, last + 1)]


def test_every_number_has_a_test() -> None:
    proved = set().union(*all_marked().values())
    assert [number for number, cells in rows() if number not in proved and not cells[0].startswith(EXEMPT)] == []


def test_no_test_claims_a_number_that_does_not_exist_or_is_not_played() -> None:
    known = {number for number, cells in rows() if not cells[0].startswith(EXEMPT)}
    assert {name: numbers - known for name, numbers in all_marked().items() if numbers - known} == {}


def test_only_a_handful_of_rulings_is_not_played() -> None:
    assert [number for number, cells in rows() if cells[0].startswith(EXEMPT)] == ["R51", "R62", "R76", "R133"]


def test_the_marker_is_found_wherever_a_test_may_carry_it() -> None:
    source = (
        '@pytest.mark.rule("A", "B")\n@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.rule("C"))])\ndef test_it(x): ...\n'
    )
    assert marked(source) == {"A", "B", "C"}
    assert marked(source.replace("def test_it", "def helper")) == set()


def test_the_table_of_options_is_the_code() -> None:
    expected = [
        (f"O-{f.name}", [f.metadata["text"], *(f"`{getattr(edition, f.name)!r}`" for edition in (GERMAN, FRENCH, AMERICAN))])
        for f in fields(GERMAN)
    ]
    assert [row for row in rows() if row[0].startswith("O-")] == expected


def test_options_named_beside_rules_exist_and_every_option_is_named() -> None:
    named = {name for number, cells in rows() if not number.startswith("O-") for name in re.findall(r"`(\w+)`", cells[1])}
    assert named == {f.name for f in fields(GERMAN)}


def test_every_rule_has_three_cells_and_every_option_five() -> None:
    assert [number for number, cells in rows() if len(cells) != (4 if number.startswith("O-") else 2)] == []


def test_every_role_and_every_unique_district_is_in_the_book() -> None:
    rules = " ".join(cells[0] for number, cells in rows() if number.startswith(("R-", "D-", "S-")))
    assert [row.name for row in ROLES if row.name not in rules] == []
    assert [row.name for row in DISTRICTS if row.colour == 4 and row.name not in rules] == []


def test_german_costs_in_the_book_are_those_of_the_cards() -> None:
    pairs = re.findall(r"^\| D-[A-Z]+ \| ([A-Z][A-Za-z ]+) \((\d)\):", BOOK, re.MULTILINE)
    assert len(pairs) == 23
    assert {name: int(cost) for name, cost in pairs} == {name: GERMAN.cost(name) for name, _ in pairs}
