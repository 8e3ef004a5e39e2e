"""Folders of results: each belongs to one set of parameters, written in its manifest."""

import json
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def holds(folder: Path, parameters: dict[str, Any], what: str) -> bool:
    """Whether `folder` holds results of these parameters; ValueError if it holds anything else."""
    manifest = folder / "manifest.json"
    if not manifest.exists():
        if folder.exists() and any(folder.iterdir()):
            raise ValueError(f"{folder} holds files but no {what}; choose another folder")
        return False
    there = json.loads(manifest.read_text(encoding="utf-8"))["parameters"]
    if there != parameters:
        raise ValueError(
            f"{folder} holds a {what} with other parameters; choose another folder, or remove this one.\n" + differences(there, parameters)
        )
    return True


def claim(folder: Path, parameters: dict[str, Any]) -> None:
    """Write the manifest that makes `folder` one of these parameters, unless it is there."""
    manifest = folder / "manifest.json"
    if not manifest.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write_json(manifest, {"parameters": parameters, "versions": versions()})


def whole_lines(path: Path) -> bytes:
    """The lines of a file that is written by appending; a last line that an interruption cut short is removed from it."""
    if not path.exists():
        return b""
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        path.write_bytes(whole)
    return whole


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("citadels-research", "numpy", "numba", "scipy", "pandas", "choix"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a checkout
            found[name] = "not installed"
    for name in ("ray", "torch"):  # of the extra for training
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def machine() -> dict[str, Any]:
    """Where something was measured."""
    return {"processor": platform.processor() or platform.machine(), "system": platform.system(), **versions()}


def differences(there: dict[str, Any], asked: dict[str, Any]) -> str:
    flat = [{**data, **data.get("rules", {})} for data in (there, asked)]
    lines = []
    for name in sorted((flat[0].keys() | flat[1].keys()) - {"rules"}):
        old: Any = flat[0].get(name)
        new: Any = flat[1].get(name)
        if name == "sets" and old != new:
            lines.append(f"  sets: {len(old)} there, {len(new)} asked for, {len(set(old) & set(new))} of them the same")
        elif old != new:
            lines.append(f"  {name}: {old!r} there, {new!r} asked for")
    return "\n".join(lines)


def write(path: Path, content: bytes) -> Path:
    """Write a file so that it is never there by half."""
    fresh = path.with_name(path.name + ".tmp")
    fresh.write_bytes(content)
    return fresh.replace(path)


def write_json(path: Path, data: Any) -> Path:
    return write(path, (json.dumps(data, indent=1) + "\n").encode())
