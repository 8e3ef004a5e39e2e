"""The rules of a game as one frozen value: players, roles, deck and every option of the three editions.

Each option is one field with one sentence and the values it may take; `GERMAN`, `FRENCH` and `AMERICAN`
are values of it, the last two written as their differences.  The numbers in brackets are those of
docs/rulebook.md.
"""

import json
import random
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from . import cards
from .cards import BASE_ROLES, BASE_UNIQUES, DISTRICT_INDEX, DISTRICTS, FACE_UP, NEW_DISTRICTS, ROLE_INDEX, ROLES
from .checks import items, json_object, names_list, real_number, seed_number, shown, true_or_false, whole_number
from .errors import RulesError, RulesWarning
from .names import canonical, hint, known_name


def _option(default: Any, text: str, values: Sequence[Any] | None = None, source: str = "") -> Any:
    """A field of `Rules` with its sentence, its allowed values and the rule it comes from."""
    if values is None and isinstance(default, bool):
        values = (False, True)
    return field(default=default, metadata={"text": text, "values": values, "source": source})


# Options that are lists of names, and the names.
_LISTS: dict[str, Any] = {
    "roles": ROLE_INDEX, "add_districts": DISTRICT_INDEX, "remove_districts": DISTRICT_INDEX, "retro_tax_roles": ROLE_INDEX,
}  # fmt: skip


def _allowed(name: str, value: Any, values: Sequence[Any], source: str) -> Any:
    """`value` as one of `values`, which are all bools, all ints or all words; raises RulesError for any other."""
    try:
        if isinstance(values[0], bool):
            return true_or_false(name, value, RulesError)
        found = (canonical(value, values) or value) if isinstance(values[0], str) else whole_number(name, value, error=RulesError)
        if isinstance(found, int | str) and found in values:
            return found
    except RulesError:
        pass
    allowed = f"{values.start} to {values.stop - 1}" if isinstance(values, range) else ", ".join(map(repr, values))
    raise RulesError(f"{name} must be one of {allowed}, not {shown(value)} ({source})")


def default_roles(players: int) -> tuple[str, ...]:
    """The eight roles of the base game; eight players need a ninth (S-2): the Artist."""
    return BASE_ROLES + ("Artist",) if players == 8 else BASE_ROLES


def recommended_districts(seed: int) -> tuple[str, ...]:
    """Two or three new districts drawn with `seed`, as the author advises (S-6)."""
    draw = random.Random(f"recommended {seed}")
    return tuple(sorted(draw.sample(NEW_DISTRICTS, draw.choice((2, 3))), key=DISTRICT_INDEX.__getitem__))


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Everything that decides how a game is played.

    Make one from an edition: ``GERMAN.with_(players=5, add_districts=("Museum", "Park"))``.

    Raises RulesError (a ValueError), naming the rule and the value, for anything the rules forbid.  Warns, with `RulesWarning`,
    of what they allow and hardly anybody wants (see `advice`).
    """

    players: int = _option(4, "Number of players.", range(2, 9), "S-2")
    roles: tuple[str, ...] = _option(
        (), "The roles of the game, one of each rank; empty: the base game's for this number of players.", source="S-1"
    )
    base_deck: str = _option("german", "The deck of district cards that the game starts from.", cards.BASE_DECKS, "D1")
    add_districts: tuple[str, ...] = _option(
        (), "New districts shuffled in: names, or 'none', 'all', or 'recommended' (2-3 drawn with districts_seed).", source="S-6"
    )
    remove_districts: tuple[str, ...] = _option((), "Districts of the base deck left out.", source="S-6")
    replace_uniques: bool = _option(
        False, "Take out as many base uniques (drawn with districts_seed) as new districts are added.", source="S-6"
    )
    districts_seed: int = _option(0, "Seed of 'recommended' and of replace_uniques.", source="S-6")
    keep_copies: int = _option(2, "Copies of the Keep in the base deck.", (1, 2), "D51")
    great_wall_in_base: bool = _option(False, "The Great Wall belongs to the base deck.", source="D32")
    remove_graveyard_with_diplomat: bool = _option(True, "With the Diplomat among the roles the Graveyard leaves the deck.", source="D12")
    hospital_requires_assassin: bool = _option(
        True, "The Hospital stays out of the deck without the Assassin among the roles.", source="D22"
    )
    allow_emperor_and_queen: bool = _option(True, "Emperor and Queen may be among the roles together (with a warning).", source="D21")

    city_size: int = _option(8, "Districts that complete a city and end the game.", (6, 7, 8), "D42")
    max_rounds: int = _option(60, "Rounds after which the game is cut off and scored as it stands.", range(1, 10_000), "X-11")
    first_crown: str = _option("oldest", "Who holds the crown first: the oldest (seat 0) or a random player.", ("oldest", "random"), "D41")
    tie_break: str = _option(
        "buildings",
        "Ties: most points from buildings; then most gold; or shared at once.",
        ("buildings", "buildings_then_gold", "shared"),
        "D40",
    )
    first_bonus_lost_if_destroyed: bool = _option(
        False, "The +4 of the first complete city needs a complete city at the end, too.", source="D47"
    )
    haunted_city_not_in_last_round: bool = _option(
        False, "The Haunted City stands for no other colour if it was built in the last round.", source="D30"
    )

    duplicates_allowed: bool = _option(True, "Identical districts may stand in one city.", source="D2")
    quarry: str = _option(
        "discount",
        "The Quarry: 1 gold less per identical district, any duplicates, or one extra copy at a time.",
        ("discount", "any_duplicates", "one_duplicate"),
        "D3",
    )
    wizard_may_duplicate: bool = _option(False, "The Wizard may build districts that already stand in his city.", source="D4")
    smithy: tuple[int, int] = _option((3, 2), "The Smithy: gold to pay, cards to draw.", source="D24")
    laboratory_gold: int = _option(1, "The Laboratory: gold for a discarded card.", (1, 2), "D25")
    observatory_cost: int = _option(5, "Cost of the Observatory.", (3, 4, 5), "D26")
    treasury_cost: int = _option(4, "Cost of the Imperial Treasury.", (4, 5), "D27")
    factory_cost: int = _option(5, "Cost of the Factory.", (5, 6), "D28")
    poor_house_cost: int = _option(0, "Cost of the Poor House.", (0, 4, 5, 6), "D29")
    great_wall_protects_itself: bool = _option(True, "The Great Wall makes its own destruction dearer, too.", source="D31")
    powder_tower_complete_city: bool = _option(True, "The Powder Tower hits completed cities.", source="D39")
    bell_tower_choice: str = _option(
        "must_decide",
        "The Bell Tower's builder must decide, or may announce an earlier end while none is certain.",
        ("must_decide", "may_announce"),
        "D38",
    )
    museum_once_per_turn: bool = _option(True, "The Museum takes one card a turn; otherwise any number.", source="D49")
    throne_room_emperor_counts: int = _option(
        1, "Moves of the crown that the Emperor's hand-over counts for the Throne Room.", (1, 2), "D45"
    )
    ballroom: str = _option(
        "decision", "Thanking the crown: a decision, always done, or forgotten with a probability.", ("decision", "auto", "forget"), "D23"
    )
    ballroom_forget_probability: float = _option(
        0.1, "Probability that a called player forgets to thank (ballroom = forget).", source="D23"
    )

    discard_to: str = _option("discard_pile", "Where cards go that nobody keeps.", ("discard_pile", "deck_bottom"), "D37")
    power_before_action: bool = _option(True, "Role powers may be used before the action (income always may).", source="D35")
    merchant_bonus_timing: str = _option("any", "When the Merchant takes his gold.", ("any", "start", "after_action"), "D36")
    architect_cards_timing: str = _option("any", "When the Architect takes his cards.", ("any", "start", "after_action"), "D36")
    navigator_can_never_build: bool = _option(
        True, "The Navigator never builds; otherwise he may instead of taking his bonus.", source="D14"
    )
    navigator_bonus_ends_turn: bool = _option(False, "The Navigator's turn is over after his bonus.", source="D14")
    warlord_timing: str = _option("any", "When the Warlord may destroy.", ("any", "end_of_turn"), "D33")
    warlord_own_city: bool = _option(False, "The Warlord may destroy districts of his own city.", source="D34")
    diplomat_timing: str = _option("any", "When the Diplomat may exchange.", ("any", "end_of_turn"), "D9")
    diplomat_may_target_complete_city: bool = _option(True, "The Diplomat may exchange with a completed city.", source="D10")
    diplomat_no_duplicates: bool = _option(False, "No exchange may leave two identical districts in a city.", source="D11")
    emperor_tribute: str = _option("none", "What the receiver of the crown gives the Emperor.", ("none", "payer_chooses"), "D5")
    emperor_may_return_crown: bool = _option(True, "The Emperor may give the crown back to its former holder.", source="D6")
    emperor_may_keep_crown_in_place: bool = _option(False, "The Emperor may leave the crown where it is.", source="X-34")
    bewitched_emperor_crown: str = _option("witch", "Who hands on the crown for a bewitched Emperor.", ("witch", "emperor_player"), "D8")
    queen_bound_to: str = _option(
        "crown",
        "Next to whom the Queen earns: the King only, the player of rank 4, or the crown if the Emperor is among the roles.",
        ("king_only", "card", "crown"),
        "D20",
    )
    alchemist_refund: str = _option("end", "When the Alchemist gets his gold back.", ("end", "immediate"), "D17")
    retro_tax_roles: tuple[str, ...] = _option(
        ("Assassin", "Witch"), "Roles of rank 1 that pay when the Tax Collector appears, having built.", source="D16"
    )
    assassin_must_name: bool = _option(False, "The Assassin must name a role.", source="X-5")
    thief_must_name: bool = _option(False, "The Thief must name a role.", source="X-5")
    witch_must_name: bool = _option(True, "The Witch must name a role.", source="D13")
    hospital_turn_end_effects: bool = _option(True, "Poor House and Park work after a Hospital turn.", source="X-15")
    cut_turn_end_effects: bool = _option(False, "Poor House and Park work after the Witch's cut and the bewitched turn.", source="D46")

    def __post_init__(self) -> None:
        self._check()
        self._advise((), 4)

    def _check(self) -> None:
        self._normalise()
        self._check_values()
        self._check_roles()
        self._check_districts()

    def _advise(self, known: Sequence[str], stacklevel: int) -> None:
        for text in self.advice():
            if text not in known:
                warnings.warn(text, RulesWarning, stacklevel=stacklevel)

    # --- making rules -----------------------------------------------------------

    def with_(self, **changes: Any) -> "Rules":
        """These rules with `changes`; names may be in any case.

        Where the roles are the base game's own, they follow a changed number of players (S-2).

        Raises RulesError (a ValueError) for an unknown option or a forbidden value.  Warns as `Rules` does, but not of what
        these rules were warned of before, unless it is asked for again.
        """
        rules = self.quietly(**changes)
        asked_again = {"roles", "add_districts"} & set(changes)
        rules._advise(() if asked_again else self.advice(), 3)
        return rules

    def quietly(self, **changes: Any) -> "Rules":
        """As `with_`, without warnings: for rules of which a user has been warned before, or which nobody has chosen one by one."""
        names = tuple(f.name for f in fields(self))
        given, changes = changes, {}
        for name, value in given.items():
            option = known_name("option", name, names, RulesError)
            if option in changes:
                raise RulesError(f"the option {option} is given twice")
            changes[option] = value
        if "players" in changes and "roles" not in changes and self.roles == default_roles(self.players):
            changes["roles"] = ()
        rules = object.__new__(Rules)
        for name in names:
            rules._set(name, changes.get(name, getattr(self, name)))
        rules._check()
        return rules

    def to_json(self) -> str:
        """These rules as JSON text, every field written."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Rules":
        """Rules from `to_json`; fields that are missing take the German values.

        Raises RulesError (a ValueError) for what is no JSON object, options named twice or unknown, and forbidden values.  Warns as `Rules` does.
        """
        rules = GERMAN.quietly(**json_object("rules", text, RulesError))
        rules._advise((), 3)
        return rules

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> "Rules":
        """Rules from what `to_json` wrote, read; without warnings: for files of results, of which a user has been warned before.

        Raises RulesError (a ValueError) for unknown options and forbidden values.
        """
        if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
            raise RulesError(f"rules must be a mapping of options to values, not {shown(options)}")
        return GERMAN.quietly(**options)

    def advice(self) -> tuple[str, ...]:
        """What is to be said against these rules, though they may be played: a sentence each."""
        found = []
        if "Queen" in self.roles and "Emperor" in self.roles:
            found.append("the designer advises against Emperor and Queen in one game (R-QUEEN-4)")
        chosen = self.add_districts
        # "all" and "recommended" name it for every deck
        if (
            "Great Wall" in chosen
            and self._wanted()["Great Wall"]
            and chosen not in (NEW_DISTRICTS, recommended_districts(self.districts_seed))
        ):
            found.append("the Great Wall is in the base deck of these rules already; to add it changes nothing (great_wall_in_base; D32)")
        return tuple(found)

    # --- what follows from them -------------------------------------------------

    @cached_property
    def deck(self) -> dict[str, int]:
        """Copies of each district in the deck after S-6, S-7 and the options of the deck."""
        return {name: copies for name, copies in self._composition().items() if copies}

    @property
    def left_out(self) -> tuple[str, ...]:
        """Districts asked for, or of the base deck, that S-7 or replace_uniques takes out."""
        wanted = {name for name, copies in self._wanted().items() if copies} | set(self.add_districts)
        return tuple(name for name in DISTRICT_INDEX if name in wanted and name not in self.deck)

    def cost(self, district: str) -> int:
        """The printed cost of `district` under these rules."""
        return {
            "Observatory": self.observatory_cost,
            "Imperial Treasury": self.treasury_cost,
            "Factory": self.factory_cost,
            "Poor House": self.poor_house_cost,
        }.get(district, DISTRICTS[DISTRICT_INDEX[district]].cost)

    def points(self, district: str) -> int:
        """The printed points of `district`: its cost, and 8 for University and Dragon Gate."""
        row = DISTRICTS[DISTRICT_INDEX[district]]
        return row.points if row.points != row.cost else self.cost(district)

    @property
    def face_up(self) -> int:
        """Roles that lie face up in each round (B2, S-3)."""
        return FACE_UP[len(self.roles), self.players]

    def describe(self) -> str:
        """These rules as text: every option with its value and its sentence, roles, deck, what was left out."""
        lines = [f"{'option':32} {'value':24} meaning"]
        for f in fields(self):
            value = getattr(self, f.name)
            shown = ", ".join(map(str, value)) or "-" if isinstance(value, tuple) else str(value)
            lines.append(f"{f.name:32} {shown:24} {f.metadata['text']} [{f.metadata['source']}]")
        deck = ", ".join(f"{copies} {name}" for name, copies in self.deck.items())
        lines.append(f"\ndeck ({sum(self.deck.values())} cards): {deck}")
        if self.left_out:
            lines.append(f"left out: {', '.join(self.left_out)} (S-6, S-7)")
        return "\n".join(lines)

    def _wanted(self) -> dict[str, int]:
        column = cards.BASE_DECKS.index(self.base_deck)
        copies = {row.name: row.copies[column] for row in DISTRICTS}
        copies["Keep"] = self.keep_copies
        copies["Great Wall"] = int(self.great_wall_in_base)
        for name in self.remove_districts:
            copies[name] = 0
        return copies

    def _composition(self) -> dict[str, int]:
        copies = self._wanted()
        if self.replace_uniques:
            new = [name for name in self.add_districts if not copies[name]]
            base = [name for name in BASE_UNIQUES for _ in range(copies[name])]
            drawn = random.Random(f"replace {self.districts_seed}").sample(base, min(len(new), len(base)))
            for name in drawn:
                copies[name] -= 1
        for name in self.add_districts:
            copies[name] = 1
        if self.hospital_requires_assassin and "Assassin" not in self.roles:
            copies["Hospital"] = 0
        if self.remove_graveyard_with_diplomat and "Diplomat" in self.roles:
            copies["Graveyard"] = 0
        return copies

    # --- checks -----------------------------------------------------------------

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _normalise(self) -> None:
        """Turn lists into tuples, NumPy's numbers into Python's, and the ready-made choices of districts and roles into names."""
        self._set("players", whole_number("players", self.players, error=RulesError))
        if self.players not in range(2, 9):
            raise RulesError(f"players must be 2 to 8, not {shown(self.players)} (S-2)")
        self._set("districts_seed", seed_number(self.districts_seed, "districts_seed", error=RulesError))
        districts = self.add_districts
        if isinstance(districts, str):
            ready = {"none": (), "all": NEW_DISTRICTS, "recommended": recommended_districts(self.districts_seed)}
            chosen = canonical(districts, ready)
            if chosen is None:
                raise RulesError(f"add_districts must be names of districts, 'none', 'all' or 'recommended', not {shown(districts)} (S-6)")
            self._set("add_districts", ready[chosen])
        for option, of in _LISTS.items():
            names = names_list(option, getattr(self, option), error=RulesError)
            self._set(option, tuple(canonical(name, of) or name for name in names))
        self._set("smithy", tuple(items("smithy", self.smithy, "numbers", RulesError)))
        for f in fields(self):
            value, words = getattr(self, f.name), f.metadata["values"]
            if isinstance(value, str) and words is not None and isinstance(words[0], str):
                self._set(f.name, canonical(value, words) or value)
        if not self.roles:
            self._set("roles", default_roles(self.players))
        roles = [known_name("role", role, ROLE_INDEX, RulesError, "(S-1)") for role in self.roles]
        self._set("roles", tuple(sorted(roles, key=ROLE_INDEX.__getitem__)))
        self._set("retro_tax_roles", tuple(sorted(self.retro_tax_roles)))

    def _check_values(self) -> None:
        for f in fields(self):
            values = f.metadata["values"]
            if values is not None:
                self._set(f.name, _allowed(f.name, getattr(self, f.name), values, f.metadata["source"]))
        try:
            gold, cards_drawn = (whole_number("", n, 0, 9, RulesError) for n in self.smithy)
        except ValueError:  # too few, too many, or one of them is wrong
            raise RulesError(f"smithy must be (gold to pay, cards to draw), each 0 to 9, not {shown(self.smithy)} (D24)") from None
        self._set("smithy", (gold, cards_drawn))
        try:
            probability = real_number("", self.ballroom_forget_probability, 0, 1, RulesError)
        except RulesError:
            raise RulesError(f"ballroom_forget_probability must be 0 to 1, not {shown(self.ballroom_forget_probability)} (D23)") from None
        self._set("ballroom_forget_probability", probability)
        for role in self.retro_tax_roles:
            if role not in ("Assassin", "Witch"):
                raise RulesError(f"retro_tax_roles may hold Assassin and Witch, not {role!r} (D16)")

    def _check_roles(self) -> None:
        by_rank: dict[int, str] = {}
        for role in self.roles:
            rank = ROLES[ROLE_INDEX[role]].rank
            if rank in by_rank:
                raise RulesError(f"{by_rank[rank]} and {role} are both of rank {rank}; a game uses one role of each rank (S-1)")
            by_rank[rank] = role
        expected = range(1, len(self.roles) + 1)
        if len(self.roles) not in (8, 9) or list(by_rank) != list(expected):
            raise RulesError(f"a game uses the ranks 1 to 8 or 1 to 9, not {', '.join(map(str, by_rank))} (S-1, S-2)")
        if (len(self.roles), self.players) not in FACE_UP:
            need = "nine" if self.players == 8 else "eight"
            raise RulesError(f"{self.players} players use {need} roles, not {len(self.roles)} (S-2)")
        if "Queen" in self.roles and self.players < 5:
            raise RulesError(f"the Queen needs five or more players, not {self.players} (S-5)")
        if "Queen" in self.roles and "Emperor" in self.roles:
            if not self.allow_emperor_and_queen:
                raise RulesError("Emperor and Queen are not used together (allow_emperor_and_queen is False; R-QUEEN-4)")

    def _check_districts(self) -> None:
        for name in self.add_districts:
            if name not in NEW_DISTRICTS:
                raise RulesError(f"{shown(name)} is none of the new districts {', '.join(NEW_DISTRICTS)} (S-6){hint(name, NEW_DISTRICTS)}")
        for name in self.remove_districts:
            if name not in DISTRICT_INDEX:
                near = hint(name, DISTRICT_INDEX)
                raise RulesError(f"there is no district {shown(name)} to remove; the districts are {', '.join(DISTRICT_INDEX)}{near}")
        for option in ("add_districts", "remove_districts"):
            names = getattr(self, option)
            if len(set(names)) != len(names):
                raise RulesError(f"{option} names a district twice: {', '.join(names)}")
            self._set(option, tuple(sorted(names, key=DISTRICT_INDEX.__getitem__)))
        total = sum(self.deck.values())
        if total < 5 * self.players:
            raise RulesError(f"the deck holds {total} cards, too few for {self.players} players who receive 4 each (B1)")


GERMAN = Rules()

FRENCH = replace(
    GERMAN,
    base_deck="french",
    duplicates_allowed=False,
    quarry="any_duplicates",
    wizard_may_duplicate=True,
    emperor_tribute="payer_chooses",
    emperor_may_return_crown=False,
    diplomat_no_duplicates=True,
    navigator_bonus_ends_turn=True,
    retro_tax_roles=("Assassin",),
    alchemist_refund="immediate",
    queen_bound_to="card",
    smithy=(3, 3),
    haunted_city_not_in_last_round=True,
    great_wall_protects_itself=False,
    warlord_timing="end_of_turn",
    warlord_own_city=True,
    merchant_bonus_timing="start",
    architect_cards_timing="start",
    discard_to="deck_bottom",
    bell_tower_choice="may_announce",
    tie_break="shared",
    first_crown="random",
)

AMERICAN = replace(
    FRENCH,
    base_deck="american",
    great_wall_in_base=True,
    remove_graveyard_with_diplomat=False,
    quarry="one_duplicate",
    diplomat_timing="end_of_turn",
    diplomat_may_target_complete_city=False,
    navigator_bonus_ends_turn=False,
    alchemist_refund="end",
    smithy=(2, 3),
    factory_cost=6,
    poor_house_cost=5,
    merchant_bonus_timing="after_action",
    architect_cards_timing="after_action",
    tie_break="buildings_then_gold",
)
EDITIONS = {"german": GERMAN, "french": FRENCH, "american": AMERICAN}
