"""Plain tables for a terminal."""

from collections.abc import Iterable, Sequence


def text_table(headers: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """A plain table; the columns named in `left` are aligned left, the others right."""
    cells = [list(headers), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))).rstrip()

    return "\n".join([line(headers), "  ".join("-" * width for width in widths), *map(line, cells[1:])])
