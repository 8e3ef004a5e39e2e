"""Players with a character: values of one record of weights.

plain heuristic   the reference: builds, saves, names by elimination
builder           rushes to a complete city: cheap districts, Architect, no detours
opportunist       works out who must hold which role, and robs, swaps and looks where it pays
aggressor         Assassin, Thief, Warlord, Witch and Diplomat against whoever leads
economist         income colours first, then dear and unique districts
expert            the balanced player, tuned against the others (expert.json tells how; with two players, where one
                  rival's loss is one's own gain, other weights serve better: expert_duel.json)
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from .weights import DTYPE, LARGEST, WEIGHTS, changed, plain, raised

EXPERT_FILE = Path(__file__).with_name("expert.json")
DUEL_FILE = Path(__file__).with_name("expert_duel.json")  # the expert with two players


def to_vector(record: Any) -> Any:
    """The weights of one record as a float64 vector, in the order of `names`."""
    return np.concatenate([np.ravel(record[w.name][0]) for w in WEIGHTS])


def from_vector(vector: Any) -> Any:
    """The record whose weights are `vector`; raises ValueError for a wrong length and entries beyond -LARGEST to LARGEST."""
    size = sum(w.size for w in WEIGHTS)
    if len(vector) != size:
        raise ValueError(f"a vector of weights has {size} entries, not {len(vector)}")
    if not (np.abs(vector) <= LARGEST).all():
        raise ValueError(f"weights are finite numbers from {-LARGEST:g} to {LARGEST:g}")
    record, at = np.zeros(1, DTYPE), 0
    for w in WEIGHTS:
        record[w.name][0] = vector[at] if w.size == 1 else vector[at : at + w.size]
        at += w.size
    return record


def load(path: Path) -> Any:
    """Weights from a JSON file: an object `weights` of numbers and lists; weights that are missing are the plain player's.

    Raises ValueError for a weight that does not exist, has a wrong number of entries or lies beyond -LARGEST to LARGEST.
    """
    record = plain()
    for name, value in json.loads(path.read_text())["weights"].items():
        if name not in (DTYPE.names or ()):
            raise ValueError(f"{path.name}: there is no weight {name!r}")
        if np.shape(value) != record[name][0].shape:
            raise ValueError(f"{path.name}: weight {name!r} has the shape {record[name][0].shape}, not {np.shape(value)}")
        if not (np.abs(value) <= LARGEST).all():
            raise ValueError(f"{path.name}: weight {name!r} is not from {-LARGEST:g} to {LARGEST:g}")
        record[name][0] = value
    return record


def save(path: Path, record: Any, **about: Any) -> None:
    """Write weights, and how they were obtained, as JSON."""
    weights = {w.name: np.round(record[w.name][0], 4).tolist() for w in WEIGHTS}
    path.write_text(json.dumps({**about, "weights": weights}, indent=1) + "\n")


def _personas() -> dict[str, Any]:
    base = plain()
    return {
        "heuristic": base,
        "builder": changed(
            base,
            price=0.35,
            new_colour=0.8,
            finish=6.0,
            reach=2.0,
            late=3.0,
            architect_ready=3.0,
            destroy_price=1.5,
            exchange_price=1.5,
            role=raised(base, "role", Architect=1.0, King=0.5, Alchemist=1.0, Wizard=0.5, Bishop=0.5),
        ),
        "opportunist": changed(
            base,
            inference=2.0,
            deny=0.3,
            rob_gold=1.3,
            murder_role=1.3,
            name_noise=0.4,
            purse=1.2,
            swap=0.9,
            preference=0.5,
            role=raised(base, "role", Thief=0.6, Magician=0.5, Wizard=0.6, Tax_Collector=0.6, Abbot=0.3),
        ),
        "aggressor": changed(
            base,
            inference=1.0,
            threat=0.5,
            threat_leader=0.8,
            destroy_price=0.45,
            exchange_price=0.5,
            blow_up_cost=4.5,
            deny=0.2,
            war_near=2.5,
            role=raised(base, "role", Assassin=1.5, Thief=1.2, Warlord=1.8, Witch=1.2, Diplomat=1.5),
        ),
        "economist": changed(
            base,
            income=1.5,
            own_colour=0.6,
            reach=7.0,
            gold_bias=1.5,
            keep_hand=1.0,
            printed=1.15,
            role=raised(base, "role", Merchant=0.8, King=0.5, Abbot=0.5, Navigator=0.8, Architect=-0.3, Queen=0.5),
            extra=raised(
                base, "extra", Imperial_Treasury=1.0, Map_Room=0.5, Wishing_Well=1.0, Factory=1.0, School_of_Magic=0.5, Library=0.5
            ),
        ),
        "expert": load(EXPERT_FILE) if EXPERT_FILE.exists() else changed(base, inference=2.0),
    }


PERSONAS = _personas()
DUELS = PERSONAS | {"expert": load(DUEL_FILE) if DUEL_FILE.exists() else PERSONAS["expert"]}  # with two players
