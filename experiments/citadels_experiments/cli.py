"""The `citadels` command.  What is heavy to import is imported by the command that needs it."""

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .click_types import Finite

if TYPE_CHECKING:
    from citadels_env import Rules

QUICK_GAMES = 500
FULL_GAMES = 5000
BLOCKS, MOST_BLOCKS = 500, 10_000  # of a tournament, without and with a precision to stop at


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _names(values: Iterable[str]) -> tuple[str, ...]:
    """The names in options that may be repeated or hold several names between commas."""
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def _specs(text: str) -> tuple[str, ...]:
    """The agents between commas; an option such as persona=expert belongs to the agent before it."""
    from citadels_agents.registry import split_specs

    return split_specs(text)


def _keep_quiet(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta["citadels.quiet"] = True


def _quiet() -> bool:
    """Was --quiet given, before or after the name of the command?"""
    return bool(click.get_current_context().meta.get("citadels.quiet"))


def _note(text: str) -> None:
    """Say something beside the results, on standard error, unless it is to be quiet."""
    if not _quiet():
        click.echo(text, err=True)


_quiet_option = click.option(
    "--quiet", is_flag=True, expose_value=False, callback=_keep_quiet, help="No progress and no notes on standard error."
)
_agents_from_option = click.option(
    "--agents-from",
    "modules",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Python file that registers further agents; may be repeated.",
)


def _load_agents(paths: Iterable[Path]) -> tuple[tuple[str, str], ...]:
    """Run the files that register agents; their names and fingerprints."""
    from citadels_agents import load_agents

    try:
        return tuple(load_agents(path) for path in paths)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _rules(edition: str | None, file: Path | None, players: int | None, districts: str | None, roles: tuple[str, ...] = ()) -> "Rules":
    """The rules that the options of the command line ask for."""
    from citadels_env import EDITIONS, Rules

    if edition and file:
        raise click.UsageError("--edition and --rules exclude each other: the file names every option")
    try:
        rules = Rules.from_json(file.read_text(encoding="utf-8")) if file else EDITIONS[edition or "german"]
        changes: dict[str, Any] = {}
        if players:
            changes["players"] = players
        if districts:
            ready = districts.strip().casefold()
            changes["add_districts"] = ready if ready in ("none", "all", "recommended") else _names([districts])
        if roles:
            changes["roles"] = roles
        return rules.with_(**changes)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


class _Edition(click.ParamType):
    """The name of an edition, in any case."""

    name = "german|french|american"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from citadels_env import EDITIONS
        from citadels_env.names import known_name

        try:
            return known_name("edition", value, EDITIONS)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class _Players(click.ParamType):
    """Numbers of players: 4, or 2-8, or 2,4,6."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        found: list[int] = []
        for piece in value.split(","):
            first, to, last = piece.partition("-")
            last = last if to else first
            if not (first.strip().isdecimal() and last.strip().isdecimal()):
                self.fail(f"{value!r} is no number of players, such as 4 or 2-8 or 2,4,6", param, ctx)
            if len(first.strip() + last.strip()) > 2 or not 2 <= int(first) <= int(last) <= 8:
                self.fail(f"{value!r}: there are 2 to 8 players", param, ctx)
            found += range(int(first), int(last) + 1)
        return tuple(dict.fromkeys(found))


def _edition_options(function: Any) -> Any:
    for option in reversed(
        (
            click.option("--edition", type=_Edition(), help="Rules of this edition (german)."),
            click.option("--rules", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSON file of options."),
        )
    ):
        function = option(function)
    return function


def _rules_options(function: Any) -> Any:
    return _edition_options(click.option("--players", type=click.IntRange(2, 8), help="Number of players (4).")(function))


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        from citadels_env import __version__

        click.echo(f"citadels {__version__}")
        ctx.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Print the version.")
@_quiet_option
def main() -> None:
    """Citadels with The Dark City: studies and tables."""


@main.group()
def study() -> None:
    """Play many games and compare."""


@study.command("role-sets")
@_rules_options
@click.option(
    "--districts", default=None, help="New districts: none, all, recommended, or names between commas (all; with --rules: the file's)."
)
@click.option("--size", type=click.Choice(["8", "9"]), help="Roles in a set (9; for 2 and 3 players 8).")
@click.option(
    "--roles",
    "only",
    multiple=True,
    metavar="NAMES",
    help="Only sets with these roles at their ranks: --roles 'Witch,King'; of two roles of one rank either.",
)
@click.option("--games", type=click.IntRange(2), help=f"Games per set ({FULL_GAMES}).")
@click.option(
    "--agents", default="heuristic", show_default=True, help="One agent for all seats, or one per seat between commas; NAME=SPEC names one."
)
@_agents_from_option
@click.option(
    "--half-width",
    type=Finite(0, 50, True, True),
    metavar="POINTS",
    help="Instead of --games: as many games per set as give a seat's win share an interval of ± this.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Same seed, same numbers.")
@click.option("--paired", is_flag=True, help="Game k of every set from the same shuffle: sharper for two or three sets.")
@click.option("--threads", type=click.IntRange(1), help="Threads (all cores); they do not change the numbers.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results (results/role-sets-..., named by all but --games).",
)
@click.option("--quick", is_flag=True, help=f"A first impression: {QUICK_GAMES} games per set.")
@click.option(
    "--margin",
    type=Finite(0, 50, True, True),
    default=2.0,
    show_default=True,
    metavar="POINTS",
    help="A set is fair if every seat's win share lies within this of 1 / players.",
)
@click.option("--show", type=click.IntRange(1), default=8, show_default=True, help="Print this many of the fairest and least fair sets.")
@click.option("--show-all", is_flag=True, help="Print every set.")
@_quiet_option
def role_sets(
    edition: str | None,
    file: Path | None,
    players: int | None,
    districts: str | None,
    size: str | None,
    only: tuple[str, ...],
    games: int | None,
    half_width: float | None,
    agents: str,
    modules: tuple[Path, ...],
    seed: int,
    paired: bool,
    threads: int | None,
    out: Path | None,
    quick: bool,
    margin: float,
    show: int,
    show_all: bool,
) -> None:
    """Compare role sets: length, scores, fairness between seats, drafts and wins of roles.

    Plays every set asked for: without options the 256 sets of ranks 1 to 8 with the Artist at four players;
    from five players on the ninth role is the Artist or the Queen (512 sets); two and three players have
    eight roles (256 sets).  Writes sets.csv, roles.csv, roles_overall.csv, pairs.csv, manifest.json and
    role_sets.png.  A study that was interrupted goes on when the same command is given again, and with more --games
    one that is finished is extended (after --quick, too): only the new games are played.
    """
    from . import folders, report, stats
    from . import study as studies
    from .progress import Progress

    if (games is not None) + (half_width is not None) + quick > 1:
        raise click.UsageError("--games, --half-width and --quick each say how many games are played: give one of them")
    started = time.perf_counter()
    rules = _rules(edition, file, players, districts or (None if file else "all"))
    extra = _load_agents(modules)
    try:
        sets = studies.role_sets(rules.players, int(size) if size else None, _names(only), rules.allow_emperor_and_queen)
        if half_width is not None:
            games = stats.games_for(half_width / 100, 1 / rules.players)
        games = games or (QUICK_GAMES if quick else FULL_GAMES)
        plan = studies.Study(rules.with_(roles=sets[0]), tuple(sets), _specs(agents), games, seed, paired, extra)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if out is None:
        out = Path("results") / studies.folder_name(plan, file.stem if file else edition or "german")

    def progress(stream: Iterable[Any], total: int, there: int) -> Iterable[Any]:
        if there:
            _note(f"{out} holds {there} of {total} sets already; playing the others")
        with Progress(total, "sets", quiet=_quiet()) as bar:
            for done, record in enumerate(stream, there + 1):
                yield record
                bar.show(done)

    threads = threads or _cores()
    heading = _heading(plan, file.name if file else edition or "german")
    click.echo(heading)
    if only:
        click.echo(_roles_text(_names(only)))
    try:
        with folders.writer(out, "study"):  # until the tables are written
            records = studies.run(plan, out, threads, progress)
            click.echo("\n" + report.study_text(plan, records, None if show_all else show, margin / 100))
            paths = studies.write_tables(records, out, margin / 100)
            from . import plots

            paths.append(folders.write(out / "role_sets.png", plots.png(plots.fairness_and_length(records, heading, margin / 100))))
    except folders.FolderError as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        click.echo(f"\nstopped; what was played is in {out}, and the same command goes on from there", err=True)
        raise SystemExit(130) from None
    names = ", ".join([*(path.name for path in paths), folders.MANIFEST])
    click.echo(f"\nwrote {names} to {out} ({time.perf_counter() - started:.0f} s)")


def _roles_text(names: Iterable[str]) -> str:
    """What --roles asks for, in a line."""
    from citadels_env.names import known_name

    from .study import RANK_OF, RANKS

    chosen: dict[int, dict[str, None]] = {}
    for name in names:
        role = known_name("role", name, RANK_OF)
        chosen.setdefault(RANK_OF[role], {})[role] = None
    parts = []
    for rank in sorted(chosen):
        free = " (all there are)" if len(chosen[rank]) == len(RANKS[rank - 1]) else ""
        parts.append(f"rank {rank}: {' or '.join(sorted(chosen[rank], key=RANKS[rank - 1].index))}{free}")
    return f"only sets with {'; '.join(parts)}"


@main.command()
@click.argument("agents", nargs=-1, required=True, metavar="AGENT AGENT ...")
@_edition_options
@click.option("--players", "counts", type=_Players(), help="Numbers of players, each a tournament of its own: 4, 2-8, 2,4,6 (4).")
@click.option("--districts", default=None, help="New districts: none, all, recommended, or names between commas.")
@click.option("--design", type=click.Choice(["duel", "mixed", "both"]), default="both", show_default=True, help="What line-ups are played.")
@click.option("--field", "fields", multiple=True, metavar="AGENT", help="Duels against this agent only; may be repeated (all agents).")
@click.option(
    "--blocks", type=click.IntRange(2), help=f"Blocks of each duel ({BLOCKS}; with --precision at most this many, {MOST_BLOCKS})."
)
@click.option("--precision", type=Finite(0, 0.5, True, True), help="Stop when every win share is known within this: 0.02.")
@click.option(
    "--anytime", is_flag=True, help="Intervals that allow to look at results, and to stop, at any time; wider, 3 to 4 times the games."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Same seed, same games.")
@click.option("--threads", type=click.IntRange(1), help="Threads (all cores); they do not change the results.")
@click.option("--on-error", type=click.Choice(["continue", "stop"]), default="continue", show_default=True, help="When an agent fails.")
@_agents_from_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results (results/tournament-..., named by all but --blocks and --players).",
)
@_quiet_option
def tournament(
    agents: tuple[str, ...],
    edition: str | None,
    file: Path | None,
    counts: tuple[int, ...] | None,
    districts: str | None,
    design: str,
    fields: tuple[str, ...],
    blocks: int | None,
    precision: float | None,
    anytime: bool,
    seed: int,
    threads: int | None,
    on_error: str,
    modules: tuple[Path, ...],
    out: Path | None,
) -> None:
    """Let agents play each other, seat-rotated, and rank them.

    A block is one seed and one line-up, played once for each seat with everybody moved on.  Duels: one challenger against a
    field of copies of another agent, for every two agents.  Mixed: line-ups drawn from all agents, in which all have equally many
    seats.  Each number of players is a tournament of its own, in the folder players-N: games.csv (one row per game; also
    games.parquet where pyarrow is installed), shares.csv, duels.csv, differences.csv, strengths.csv, summary.json,
    manifest.json, speed.json, tournament.png, and budgets.png for searches that differ in their iterations.  A tournament
    that was interrupted goes on when the same command is given again, and with more --blocks one that is finished is extended.
    An agent given as NAME=SPEC, such as mine=network:file=mine.safetensors, stands in the tables under its name.
    """
    from citadels_agents.registry import spec_of

    from . import folders, ladder, tournament_plots
    from . import tournament as tournaments
    from .plots import png
    from .progress import Progress

    started = time.perf_counter()
    try:
        extra = _load_agents(modules)
        plans = []
        for players in counts or (None,):
            resolved = _rules(edition, file, players, districts)
            limit = blocks or (BLOCKS if precision is None else MOST_BLOCKS)
            plans.append(tournaments.Tournament(resolved, agents, design, limit, seed, precision, fields, extra, anytime))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    out = out or Path("results") / tournaments.folder_name(plans[0], file.stem if file else edition or "german")
    if any("milliseconds" in spec_of(name) for name in plans[0].names):
        _note("note: an agent that thinks for a given time does not play the same games twice")
    for plan in plans:
        folder = out / f"players-{plan.players}"
        try:
            with folders.writer(folder, "tournament"):  # until the tables are written
                with Progress(None, "games", f"{plan.players} players", quiet=_quiet()) as bar:
                    games = tournaments.run(plan, folder, threads or _cores(), on_error, bar.show)
                paths = tournaments.write_results(plan, games, folder)
                if not (folder / "speed.json").exists():
                    measured = {"agents": tournaments.measure(plan), "machine": folders.machine()}
                    paths.append(folders.write_json(folder / "speed.json", measured))
                results = ladder.load(folder)
                for name, figure in (("tournament", tournament_plots.standings(results)), ("budgets", tournament_plots.budgets(results))):
                    if figure:
                        paths.append(folders.write(folder / f"{name}.png", png(figure)))
        except (ValueError, tournaments.AgentFailedError) as error:
            raise click.ClickException(str(error)) from None
        except KeyboardInterrupt:
            click.echo(f"\nstopped; what was played is in {out}, and the same command goes on from there", err=True)
            raise SystemExit(130) from None
        click.echo(ladder.results_text(results))
        click.echo(f"\nwrote {', '.join(path.name for path in paths)} to {folder}\n")
    if len(plans) > 1:
        try:
            folders.write(out / "ladder.png", png(tournament_plots.by_players(ladder.load_all(out))))
        except ValueError as error:
            raise click.ClickException(str(error)) from None
        click.echo(f"wrote ladder.png to {out}")
    click.echo(f"{time.perf_counter() - started:.0f} s")


@main.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--set", "set_", type=click.IntRange(0), help="Of a study: the number of the set in sets.csv.")
@click.option("--replicate", type=click.IntRange(0), help="Of a tournament: replicate, block and game as in games.csv.")
@click.option("--block", type=click.IntRange(0), help="Of a tournament.")
@click.option("--game", type=click.IntRange(0), required=True, help="The number of the game in its set or block, from 0.")
@_agents_from_option
def games(folder: Path, set_: int | None, replicate: int | None, block: int | None, game: int, modules: tuple[Path, ...]) -> None:
    """Print one game of a study or a tournament, whoever played it: rules, seed and every answer.

    FOLDER is the folder of a study, or the players-N folder of a tournament.  The game is played again from its seed;
    `Game.replay` in Python reads what is printed.
    """
    from . import taken_out

    loaded = _load_agents(modules)
    try:
        click.echo(taken_out.game_text(folder, game, set_=set_, replicate=replicate, block=block, modules=loaded), nl=False)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--into", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Markdown file to put the tables into.")
@click.option("--pictures", type=click.Path(file_okay=False, path_type=Path), help="Folder for the pictures that the file shows.")
def ladder(folder: Path, into: Path | None, pictures: Path | None) -> None:
    """Print the results of tournaments as a Markdown page, or put them into one.

    FOLDER is the --out folder of a tournament, or holds several of them; each is then a section of the page.
    """
    from . import ladder as ladders

    try:
        if into:
            ladders.write_page(folder, into, pictures)
        else:
            click.echo(ladders.ladder_page(folder), nl=False)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


def _heading(plan: Any, rules_name: str) -> str:
    new = plan.rules.add_districts
    districts = {0: "no new districts", 15: "all 15 new districts"}.get(len(new), "new districts: " + ", ".join(new))
    agents = plan.agents[0] if len(set(plan.seats)) == 1 else ", ".join(plan.seats)
    return (
        f"{len(plan.sets)} role sets, {plan.players} players, {rules_name} rules, {districts}, "
        f"{plan.games:,} games per set, agents {agents}, seed {plan.seed}{', paired' if plan.paired else ''}"
    )


@main.command()
@_rules_options
@click.option("--districts", default=None, help="New districts: none, all, recommended, or names between commas.")
@click.option("--roles", multiple=True, metavar="NAMES", help="The roles of the game, between commas.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, to be edited and given to --rules.")
def rules(
    edition: str | None, file: Path | None, players: int | None, districts: str | None, roles: tuple[str, ...], as_json: bool
) -> None:
    """Print rules: every option with its value, the roles, the resolved deck."""
    resolved = _rules(edition, file, players, districts, _names(roles))
    click.echo(json.dumps(json.loads(resolved.to_json()), indent=2) if as_json else resolved.describe())


@main.command()
def roles() -> None:
    """Print the 18 roles."""
    from citadels_env import ROLES

    from .text import text_table

    rows = [(str(row.rank), row.name, "" if row.colour < 0 else row.colour.name.lower(), str(row.builds), row.text) for row in ROLES]
    click.echo(text_table(("rank", "role", "colour", "builds", "text"), rows, (1, 2, 4)))


@main.command()
def districts() -> None:
    """Print the districts: costs, points, copies in the base decks of the three editions."""
    from citadels_env import DISTRICTS, EDITIONS

    from .text import text_table

    def per_edition(numbers: list[int]) -> str:
        return str(numbers[0]) if len(set(numbers)) == 1 else "/".join(map(str, numbers))

    editions = EDITIONS.values()
    rows = [
        (
            row.name,
            row.colour.name.lower(),
            per_edition([rules.cost(row.name) for rules in editions]),
            per_edition([rules.points(row.name) for rules in editions]),
            "new" if row.new else "",
            per_edition([rules.deck.get(row.name, 0) for rules in editions]),
            row.text,
        )
        for row in DISTRICTS
    ]
    click.echo(text_table(("district", "colour", "cost", "points", "set", "copies", "text"), rows, (0, 1, 4, 6)))
    click.echo("\nThree numbers are those of the german, french and american edition; new districts are added with add_districts.")


@main.command()
def options() -> None:
    """Print every option of the rules with its values in the three editions."""
    from dataclasses import fields

    from citadels_env import EDITIONS, Rules

    from .text import text_table

    def shown(value: Any) -> str:
        return ", ".join(map(str, value)) or "-" if isinstance(value, tuple) else str(value)

    rows = [
        (
            f.name,
            *(shown(getattr(rules, f.name)) for rules in EDITIONS.values()),
            _allowed(f.metadata["values"]),
            f.metadata["text"],
            f.metadata["source"],
        )
        for f in fields(Rules)
        if f.name not in ("players", "roles")
    ]
    click.echo(text_table(("option", *EDITIONS, "values", "meaning", "rule"), rows, range(7)))


def _allowed(values: Any) -> str:
    if values is None:
        return ""
    return f"{values.start} to {values.stop - 1}" if isinstance(values, range) else ", ".join(map(str, values))


@main.command()
@click.option("--start", default="expert", show_default=True, help="Persona to start from.")
@click.option("--field", default="heuristic,opportunist", show_default=True, help="Personas to play against, between commas.")
@click.option("--generations", default=120, show_default=True, type=click.IntRange(1))
@click.option("--population", default=20, show_default=True, type=click.IntRange(4), help="Candidates of a generation.")
@click.option("--games", default=240, show_default=True, type=click.IntRange(8), help="Games per candidate and scenario.")
@click.option("--sigma", default=0.5, show_default=True, type=Finite(1e-6, 100), help="Size of the first steps.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(1))
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1))
@click.option("--duel", is_flag=True, help="Tune for two players.")
@click.option("--out", default=Path("expert.json"), show_default=True, type=click.Path(dir_okay=False, path_type=Path))
def tune(
    start: str, field: str, generations: int, population: int, games: int, sigma: float, seed: int, threads: int, duel: bool, out: Path
) -> None:
    """Tune the weights of a persona by CMA-ES; the same command goes on where it was stopped."""
    from citadels_agents import personas
    from citadels_env.names import known_name

    from . import tuning

    try:
        start, *against = (known_name("persona", name, personas.PERSONAS) for name in (start, *_names([field])))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        tuning.tune(start, tuple(against), generations, population, games, seed, sigma, threads, duel, out, click.echo)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


@main.command("fit-value")
@click.option("--persona", default="expert", show_default=True, help="Who plays the games.")
@click.option("--games", default=2000, show_default=True, type=click.IntRange(10), help="Games per scenario.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option("--out", default=Path("evaluation.json"), show_default=True, type=click.Path(dir_okay=False, path_type=Path))
def fit_value(persona: str, games: int, seed: int, out: Path) -> None:
    """Fit the value estimate of the tree search to games of a persona."""
    from . import value

    try:
        found = value.fit(persona, games, seed, out)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for key, number in found.items():
        click.echo(f"{key}: {number}")


def _needs_extra(error: ImportError) -> click.ClickException:
    return click.ClickException(f"training needs the extra `rllib`: pip install '.[rllib]' ({error})")


@main.command()
@click.option(
    "--config", required=True, metavar="FILE", help="TOML file of the run, or one that comes along: quick, four_players, many_rules."
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the run (results/train-NAME).")
@click.option("--runners", type=click.IntRange(0), default=0, show_default=True, help="Remote runners; 0: games in the learning process.")
@click.option("--address", help="Of a Ray cluster, such as auto or ray://host:10001; without it Ray runs on this machine alone.")
@click.option("--threads", type=click.IntRange(1), help="Threads of torch in the learning process (all cores).")
@click.option("--iterations", type=click.IntRange(1), help="Stop after so many, instead of what the file says.")
@click.option("--minutes", type=Finite(0, min_open=True), help="Stop after so many of training, instead of what the file says.")
@_agents_from_option
@_quiet_option
def train(
    config: str,
    out: Path | None,
    runners: int,
    address: str | None,
    threads: int | None,
    iterations: int | None,
    minutes: float | None,
    modules: tuple[Path, ...],
) -> None:
    """Train a network by PPO, on RLlib's fast path.

    Writes progress.csv (one row an iteration), evaluations.csv, tensorboard/, learning_curve.png, network.safetensors (an agent:
    network:file=...), result.json and a checkpoint.  A run that was interrupted goes on when the same command is given again, and
    so does one that is over, given more --iterations or --minutes; without more to do nothing is done.
    """
    from dataclasses import replace

    from .learning import training as trainings
    from .progress import Progress

    _load_agents(modules)  # the file of the run may name them
    try:
        path = trainings.config_file(config)
        plan = trainings.Training.from_file(path)
        if modules:
            plan = replace(plan, games={**plan.games, "agents_from": [*plan.games.get("agents_from", ()), *map(str, modules)]})
        if iterations or minutes:
            plan = replace(plan, run=replace(plan.run, iterations=iterations, minutes=minutes))
        out = out or Path("results") / f"train-{path.stem}"
        done = trainings.finished(plan, out)
        if done is not None:
            click.echo(f"{out} holds this run, finished after {done['iteration']} iterations; there is nothing to do")
            click.echo("at the end: " + _shares_text(done["steps"], done["seconds"], done["evaluation"]))
            return
        trainer = trainings.Trainer(plan, out, runners=runners, address=address, threads=threads)
    except ImportError as error:
        raise _needs_extra(error) from None
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    from . import folders, plots
    from .learning import curves

    heading = f"{path.stem}: {plan.games_text(trainer.games)}"
    click.echo(heading)
    if trainer.resumed:
        _note(f"{out} holds {trainer.iteration} iterations already; going on")
    if trainer.not_exported:
        _note(f"there will be no network.safetensors: {trainer.not_exported}")
    by_time = plan.run.iterations is None
    total = 60 * (plan.run.minutes or 0) if by_time else plan.run.iterations

    def draw() -> None:
        figure = curves.learning_curve(out, heading)
        if figure is not None:
            folders.write(out / "learning_curve.png", plots.png(figure))

    with Progress(total, "s" if by_time else "iterations", quiet=_quiet(), bar_format=_BAR) as bar:

        def report(row: dict[str, Any], rows: list[dict[str, Any]]) -> None:
            note = f"{row['steps_per_second']:,.0f} steps/s, entropy {row['entropy']:.2f}, value error {row['value_error']:.3f}"
            bar.show(min(total, row["seconds"] if by_time else row["iteration"]), note=note)
            if rows:
                bar.write(_shares_text(row["steps"], row["seconds"], rows))
                draw()

        try:
            rows = trainer.run(report)
            draw()
        except (RuntimeError, folders.FolderError) as error:
            raise click.ClickException(str(error)) from None
        except KeyboardInterrupt:
            click.echo(f"\nstopped; {out} holds the run up to iteration {trainer.saved}, and the same command goes on from there", err=True)
            raise SystemExit(130) from None
        finally:
            trainer.close()
    click.echo("at the end: " + _shares_text(trainer.steps, trainer.seconds, rows))
    click.echo(f"wrote {', '.join(sorted(path.name for path in out.iterdir()))} to {out}")


_BAR = "{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


def _shares_text(steps: int, seconds: float, rows: list[dict[str, Any]]) -> str:
    shares = "   ".join(f"{row['opponents']} {row['share']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" for row in rows)
    return f"{steps / 1e6:7.2f} M steps, {seconds / 60:5.1f} min: wins against {shares}"


@main.command()
@click.argument("checkpoint", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--module", default="learner", show_default=True, help="The module to write.")
def export(checkpoint: Path, file: Path, module: str) -> None:
    """Write a module of an RLlib CHECKPOINT, or of the folder of a run, to FILE: an agent, network:file=FILE.

    It plays without Ray and torch.  A checkpoint is code as well as numbers: read only those you trust.
    """
    from .learning import training as trainings

    try:
        click.echo(f"wrote {trainings.export_checkpoint(checkpoint, file, module)}")
    except ImportError as error:
        raise _needs_extra(error) from None
    except ValueError as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.option("--processes", type=click.IntRange(1), help="Processes that compile at the same time, half a gigabyte each (all cores).")
def warmup(processes: int | None) -> None:
    """Compile now all that may be called later, so that every program starts at once.

    For an image, a cluster or a course: with CITADELS_CACHE_DIR set to a shared folder it is done once for all that have
    the same version, Python and processor.  What is compiled already takes seconds.
    """
    from . import warmup as warming
    from .progress import Progress

    start, steps = time.perf_counter(), len(warming.STEPS)
    with Progress(steps, "parts", "compiling", quiet=_quiet()) as bar:

        def progress(done: int, working: str) -> None:
            bar.show(done, note=working)

        try:
            warming.warm_up(min(processes or _cores(), steps), progress)
        except warming.NotKeptError as error:
            raise click.ClickException(str(error)) from None
        except KeyboardInterrupt:
            click.echo("\nstopped; what was compiled is kept", err=True)
            raise SystemExit(130) from None
    click.echo(f"ready after {time.perf_counter() - start:.0f} s")


@main.command()
@click.option("--path", is_flag=True, help="Print the folder and nothing else.")
@click.option("--clear", is_flag=True, help="Remove all that is kept.")
@click.option("--unused", type=Finite(0), metavar="DAYS", help="Remove what was not used for so many days.")
def cache(path: bool, clear: bool, unused: float | None) -> None:
    """Show or clear the compiled rules and agents that are kept on disk.

    A version is what was compiled from the same sources by the same Python and Numba; versions that nobody uses for a month are
    removed by themselves.  CITADELS_CACHE_DIR names another folder.
    """
    from . import warmup as warming

    if path + clear + (unused is not None) > 1:
        raise click.UsageError("--path, --clear and --unused exclude each other")
    if path:
        click.echo(str(warming.folder() or ""))
    elif clear or unused is not None:
        removed, left = warming.clear(unused)
        click.echo(f"removed {_count(len(removed), 'version')}, {_megabytes(sum(version.size for version in removed))}")
        if left:
            raise click.ClickException("these cannot be removed: " + ", ".join(str(version.path) for version in left))
    else:
        click.echo(warming.cache_text())


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


if __name__ == "__main__":
    main()
