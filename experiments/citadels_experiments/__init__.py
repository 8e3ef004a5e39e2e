"""Studies on the Citadels library, and the `citadels` command."""

import os
from pathlib import Path


def _matplotlib_folder() -> str | None:
    """Where Matplotlib may keep its fonts if not in the home: beside the compiled code, in the folder named for that; None: as usual."""
    cache = os.environ.get("CITADELS_CACHE_DIR")
    if not cache or "MPLCONFIGDIR" in os.environ:
        return None
    usual = Path(os.path.expandvars(os.environ.get("XDG_CONFIG_HOME") or "~/.config")).expanduser() / "matplotlib"
    while not os.path.lexists(usual) and usual != usual.parent:
        usual = usual.parent
    return None if usual.is_dir() and os.access(usual, os.W_OK) else str(Path(cache).expanduser().absolute() / "matplotlib")


try:
    if _folder := _matplotlib_folder():
        os.environ["MPLCONFIGDIR"] = _folder
except (OSError, RuntimeError):  # an account without a home; Matplotlib finds a folder by itself, and says so
    pass
