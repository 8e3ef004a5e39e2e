"""What holds for the whole house: who imports what, nothing of one machine, files that agree with each other."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import citadels_env

ROOT = Path(__file__).parent.parent
PACKAGES = {"citadels_env": ROOT, "citadels_agents": ROOT / "agents", "citadels_experiments": ROOT / "experiments"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def modules_after(code):
    """The top-level modules that a fresh interpreter has imported after `code`."""
    paths = [str(path) for path in PACKAGES.values()]
    program = f"import sys; sys.path[:0] = {paths!r}\n{code}\nprint('MODULES', *sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.rsplit("MODULES", 1)[1].split())


def test_the_rules_bring_no_learning_framework_and_no_plots():
    loaded = modules_after("import citadels_env; from citadels_env import Game, Batch, Rules, citadels_v0")
    assert "numba" in loaded
    # (Numba itself imports SciPy where it is installed)
    assert not loaded & {"torch", "ray", "pandas", "matplotlib", "PIL", "click", "tqdm", "citadels_agents", "citadels_experiments"}


def test_help_is_fast_because_it_imports_nothing_heavy():
    code = "from citadels_experiments import cli\ntry: cli.main(['study', 'role-sets', '--help'])\nexcept SystemExit: pass"
    loaded = modules_after(code)
    assert "click" in loaded
    assert not loaded & {"numba", "numpy", "pandas", "matplotlib", "scipy", "citadels_env", "citadels_agents"}


def tracked_files():
    """The files of the repository, as git lists them; in an archive without git, all that are not caches."""
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        return [ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()]
    skipped = re.compile(r"\.\w+|__pycache__")
    return [path for path in ROOT.rglob("*") if path.is_file() and not any(map(skipped.fullmatch, path.relative_to(ROOT).parts))]


# written in halves, so that this file does not find itself
MACHINE = re.compile("|".join(("/wo" + "rk/", "/ro" + "ot/", "/ho" + r"me/\w", "/Us" + r"ers/\w", "/t" + "mp/")))
REGISTRY = re.compile("|".join(("pypi" + r"\.org", "python" + "hosted", "npm" + "js", "index" + "-url")))


@pytest.mark.parametrize("pattern", [MACHINE, REGISTRY], ids=["paths of a machine", "hosts of a registry"])
def test_nothing_of_one_machine(pattern):
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}:{n}" for n, line in enumerate(text.splitlines(), 1) if pattern.search(line)]
    assert found == []


def test_the_patterns_see_what_they_look_for():
    assert MACHINE.search("open('/ho" + "me/ann/x')")
    assert REGISTRY.search("https://pypi" + ".org/simple")


def names_of(requirements):
    return {re.match(r"[A-Za-z0-9_.-]+", line).group().lower().replace("_", "-") for line in requirements}


def test_every_dependency_of_a_checkout_has_an_exact_version():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.+]+", line) for line in pinned)
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = names_of(PROJECT["project"]["dependencies"] + extras["dev"] + extras["notebooks"]) - {"citadels-research"}
    assert wanted <= names_of(pinned)


def test_third_party_imports_are_declared():
    extras = PROJECT["project"]["optional-dependencies"]
    used_by_code = [line for extra in extras.keys() - {"dev", "notebooks", "all"} for line in extras[extra]]
    declared = names_of(PROJECT["project"]["dependencies"] + used_by_code)
    imported = set()
    for name, folder in PACKAGES.items():
        for path in (folder / name).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                    imported.add(node.module.split(".")[0])
    third_party = imported - set(sys.stdlib_module_names) - set(PACKAGES)
    assert {"numpy", "numba", "click", "pandas"} <= third_party
    imported_as = {"pillow": "pil"}
    assert {name.lower() for name in third_party} <= {imported_as.get(name, name.replace("-", "_")) for name in declared}


def test_public_names_are_documented():
    missing = [name for name in citadels_env.__all__ if not (getattr(citadels_env, name).__doc__ or "").strip()]
    assert missing == []


def test_the_ci_runs_the_tests_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    install = "pip install -c constraints.txt -e '.[dev]'"
    assert f"{install} && pytest\n" in readme
    assert install.replace("install", "install --quiet") in script
    assert "\npytest\n" in script
