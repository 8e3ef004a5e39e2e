"""What must hold in every state of every game, checked over a whole batch at once."""

import random
import warnings
from typing import Any

import numpy as np

from citadels_env import EDITIONS, ROLES, Ask, Batch, Rules, state
from citadels_env.cards import NEW_DISTRICTS


def random_rules(seed: int) -> Rules:
    """Rules of a random edition, number of players, role set and set of new districts."""
    draw = random.Random(seed)
    edition, players = draw.choice(list(EDITIONS.values())), draw.randint(2, 8)
    nine = players == 8 or (players >= 4 and draw.random() < 0.6)
    roles = [ROLES[2 * rank + draw.randint(0, 1)].name for rank in range(9 if nine else 8)]
    if "Queen" in roles and players < 5:
        roles[8] = "Artist"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Emperor and Queen together are allowed
        return edition.with_(
            players=players,
            roles=tuple(roles),
            add_districts=tuple(draw.sample(NEW_DISTRICTS, draw.randint(0, 15))),
            emperor_may_keep_crown_in_place=draw.random() < 0.3,
        )


def cards_in_game(rules: list[Rules]) -> Any:
    """The number of cards of each type per game: (N, districts)."""
    return np.array([state.rules_row(r)["copies"] for r in rules], np.int64)


def violations(states: Any, copies: Any, masks: Any) -> list[str]:
    """Everything that is wrong in the states, one line per invariant and first game; empty if all is well."""
    n = np.arange(len(states))
    depth = states["depth"].astype(np.int64)
    asked = states["ask"][n, depth - 1]
    actor = states["actor"][n, depth - 1]
    over = states["over"] != 0
    found: list[str] = []

    def check(text: str, good: Any) -> None:
        bad = np.flatnonzero(~np.asarray(good).reshape(len(states), -1).all(1))
        if bad.size:
            found.append(f"{text} (game {bad[0]}, {bad.size} games)")

    counts = states["hand"].astype(np.int64).sum(1) + states["city"].astype(np.int64).sum(1)
    size, bottom = states["deck_size"].astype(np.int64), states["deck_bottom"].astype(np.int64)
    heights = np.arange(state.DECK_CAPACITY)
    ring = np.take_along_axis(states["deck"].astype(np.int64), (bottom[:, None] + heights) % state.DECK_CAPACITY, 1)
    for height in range(int(size.max(initial=0))):
        there = size > height
        np.add.at(counts, (n[there], ring[there, height]), 1)
    for i in range(3):
        there = states["n_drawn"] > i
        np.add.at(counts, (n[there], states["drawn"][there, i].astype(np.int64)), 1)
    for level in range(state.STACK):
        waiting = (states["ask"][:, level] == Ask.GRAVEYARD) & (depth > level)
        np.add.at(counts, (n[waiting], states["arg"][waiting, level].astype(np.int64)), 1)
    check("every card is in exactly one place", counts == copies)
    check("gold is never negative", states["gold"] >= 0)
    check("no place holds fewer than no cards", (states["hand"] >= 0).all((1, 2)) & (states["city"] >= 0).all((1, 2)))
    check("a district carries at most one coin", ((states["coins"] >= 0) & (states["coins"] <= states["city"])).all((1, 2)))
    check("hand sizes are counted", states["hand_size"] == states["hand"].sum(2))
    check("city sizes are counted", states["city_size"] == states["city"].sum(2))
    check("one question is open", (depth >= 1) & (depth < state.STACK))
    players = states["rules"]["n_players"]
    check("exactly one player answers until the end", np.where(over, asked == Ask.NOTHING, (actor >= 0) & (actor < players)))
    check("there is a legal answer until the end", masks.any(1) == ~over)
    check("the crown has a holder", (states["crown"] >= 0) & (states["crown"] < players))
    owner = states["owner"].astype(np.int64)
    check("roles belong to players", (owner >= -1) & (owner < players[:, None]))
    each = np.where(players <= 3, 2, 1)
    held = np.stack([(owner == seat).sum(1) for seat in range(8)], 1)
    check("nobody holds too many roles", held <= each[:, None])
    check("who has been revealed holds the role", (states["revealed"] == 0) | (owner >= 0))
    lanes = np.stack([states["known"] >> 2 * seat & 3 for seat in range(8)], 3)
    check("nobody is sure of a card that is not there", (lanes <= states["hand"][..., None]).all((1, 2, 3)))
    ended = states["first_completers"] != 0
    check("a first completer ends the game", (states["ending"] != 0) == ended)
    return found


def random_answers(masks: Any, rng: np.random.Generator) -> Any:
    """A random legal answer per game, 0 where there is none: the first in an order of the actions drawn for all games."""
    order = rng.permutation(masks.shape[1])
    return order[masks[:, order].argmax(1)] * masks.any(1)


def play_and_check(batch: Batch, rng: np.random.Generator, every: int = 1) -> int:
    """Play all games of a batch without auto-reset at random, checking after every `every` answers; the answers given."""
    copies = cards_in_game(batch.rules)
    made = 0
    while (batch.actors >= 0).any():
        batch.step(random_answers(batch.masks(), rng))
        made += 1
        if made % every == 0:
            found = violations(batch.states, copies, batch.masks())
            assert not found, found
    return made
