"""The shape of the kernel: routers, pairs, fields, one signature a function, compiled equals plain Python."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from citadels_env import GERMAN, Ask, Batch, Game, actions, batch, districts, engine, observation, roles, state, turn
from citadels_env._jit import COMPILED
from citadels_env.signature import signature
from invariants import random_answers

ROOT = Path(__file__).parent.parent


def _source(function: object) -> str:
    return inspect.getsource(getattr(function, "py_func", function))  # type: ignore[arg-type]


def test_every_question_is_routed_and_has_its_pair() -> None:
    answers_elsewhere = {"NAME": {"legal": roles, "apply": turn}, "PARK": {"legal": districts, "apply": turn}}
    for ask in Ask:
        if ask is Ask.NOTHING:
            continue
        name = ask.name.lower()
        for router, prefix in ((engine.legal, "legal_"), (engine.apply, "")):
            match = re.search(rf"Ask\.{ask.name}: (?:return )?(\w+)\.{prefix}{name}\(", _source(router))
            assert match, f"{ask!r} is not routed in {router}"
            home = {"turn": turn, "roles": roles, "districts": districts}[match[1]]
            assert hasattr(home, prefix + name)
            side = "legal" if prefix else "apply"
            assert answers_elsewhere.get(ask.name, {}).get(side, home) is home


def test_no_field_of_a_record_is_named_like_an_array_attribute() -> None:
    taken = set(dir(np.recarray))
    for dtype in (state.STATE, state.RULES, batch.STEP):
        assert not taken & set(dtype.names or ())


def test_a_state_record_is_smaller_than_four_kibibytes() -> None:
    assert state.STATE.itemsize < 4096


@pytest.mark.slow
def test_every_kernel_function_is_compiled_for_one_signature_only(tmp_path: Path) -> None:
    if not COMPILED:
        pytest.skip("plain Python compiles nothing")
    code = """
from citadels_env import GERMAN, Batch, Game, batch, districts, engine, hidden, observation, roles, scoring, state, turn
games = Batch(GERMAN, 2)
games.observations()
games.play_out()
Game(GERMAN).redeal(0, 1)
for module in (state, districts, roles, turn, scoring, engine, observation, hidden, batch):
    for name, value in vars(module).items():
        if len(getattr(value, "signatures", ())) > 1 and value.__module__ == module.__name__:
            print(module.__name__, name)
"""
    environment = dict(os.environ, CITADELS_CACHE_DIR=str(tmp_path))  # a cold cache: what is loaded from disk shows no signatures
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True, cwd=ROOT)
    assert result.stdout == ""


def test_compiled_and_plain_python_play_identical_games() -> None:
    environment = dict(os.environ, NUMBA_DISABLE_JIT="1")
    code = "from citadels_env.signature import signature; print(signature(14))"
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True, cwd=ROOT)
    assert plain.stdout.strip() == signature(14)


def test_plain_python_gives_the_same_observations_masks_and_redeals() -> None:
    code = """
import numpy as np
from hashlib import sha256
from citadels_env import FRENCH, Game
digest = sha256()
game = Game(FRENCH.with_(players=3, add_districts="all"), 9)
for k in range(60):
    index = game.legal_indices()
    digest.update(game.mask().tobytes() + game.observation(k % 3).tobytes() + game.redeal(k % 3, k).observation((k + 1) % 3).tobytes())
    game.play(int(index[k * 7 % len(index)]))
print(digest.hexdigest())
"""
    outputs = []
    for disabled in ("0", "1"):
        environment = dict(os.environ, NUMBA_DISABLE_JIT=disabled)
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True, cwd=ROOT)
        outputs.append(result.stdout)
    assert outputs[0] == outputs[1] != ""


def test_the_signature_is_the_one_on_record() -> None:
    assert signature() == (Path(__file__).parent / "signature.txt").read_text().strip()


def test_no_question_has_more_answers_than_there_is_room_for() -> None:
    games = Batch(GERMAN.with_(players=8, add_districts="all"), 50, seed=1)
    most, rng = 0, np.random.default_rng(0)
    for _ in range(800):
        masks = games.masks()
        most = max(most, int(masks.sum(1).max()))
        games.step(random_answers(masks, rng))
    assert most < engine.MAX_MOVES // 2


def test_actions_are_split_and_described_in_one_piece() -> None:
    texts = set()
    for action in range(actions.N_ACTIONS):
        verb, *_ = actions.split(action)
        text = actions.describe(action, 3, 8, owner=0)
        assert text.startswith(verb)
        texts.add(text)
    assert len(texts) == actions.N_ACTIONS
    with pytest.raises(ValueError, match="no action"):
        actions.block_of(actions.N_ACTIONS)


def test_the_generated_pages_agree_with_the_tables() -> None:
    assert actions.table() in (ROOT / "docs" / "actions.md").read_text()
    assert observation.table() in (ROOT / "docs" / "observation.md").read_text()


def test_a_game_is_decided_by_rules_seed_and_answers() -> None:
    one, two = Game(GERMAN, 11), Game(GERMAN, 11)
    rng = np.random.default_rng(0)
    while not one.over:
        index = int(rng.choice(one.legal_indices()))
        one.play(index)
        two.play(index)
    assert one.scores() == two.scores()
    assert one.log == two.log
    assert Game(GERMAN, 12).hand(0) != Game(GERMAN, 11).hand(0)
