"""`pathformer explain` as people meet it: text, pictures, errors, and how little it loads."""

from __future__ import annotations

import subprocess
import sys

EXAMPLE = "?x : directed(Fellini, ?f) & !won(?f, Oscar) & stars(?f, ?x)"


def run_in_process(*arguments, watch=()):
    """Run the command in a fresh process and say which modules it loaded."""
    code = (
        "import sys\nfrom pathformer.cli._main import main\n"
        f"sys.argv = ['pathformer', 'explain', *{list(arguments)!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    status = stop.code or 0\nelse:\n    status = 0\n"
        f"print('LOADED', *(name for name in {list(watch)!r} if name in sys.modules))\nsys.exit(status)\n"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)


def test_every_stage_is_shown_and_little_is_loaded():
    done = run_in_process(EXAMPLE, watch=("torch", "rdflib", "pyarrow", "numba"))
    assert done.returncode == 0
    assert done.stdout.endswith("LOADED\n")
    assert "scope\n  ?x : ∃f. directed(Fellini, ?f)" in done.stdout
    assert "computation tree: inp\n  ?x\n  └─ stars" in done.stdout
    assert "P2  Oscar ─won⁻¹→ · ─not→ ·  {Oscar, won⁻¹, [Negation]}" in done.stdout


def test_the_terminal_is_not_steered_by_names():
    done = run_in_process(r'?x : r("\u001b[31mred", ?x)')
    assert done.returncode == 0
    assert "computation tree: 1p\n  ?x\n  └─ r\n     └─ \\x1b[31mred\n" in done.stdout
    assert "\x1b" not in done.stdout


def test_pictures(tmp_path):
    done = run_in_process(EXAMPLE, "--svg", str(tmp_path / "q.svg"), "--png", str(tmp_path / "q.png"))
    assert done.returncode == 0
    assert (tmp_path / "q.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / "q.png").read_bytes().startswith(b"\x89PNG")
    assert f"drawn to {tmp_path / 'q.png'}" in done.stdout


def test_a_picture_too_large_for_a_png_leaves_no_file(tmp_path):
    query = "?x : " + " & ".join(f"r(a{number}, ?x)" for number in range(1500))
    done = run_in_process(query, "--svg", str(tmp_path / "q.svg"), "--png", str(tmp_path / "q.png"))
    assert done.returncode == 2
    assert "too large for a PNG that can be read: use --svg instead" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
    assert run_in_process(query, "--svg", str(tmp_path / "q.svg")).returncode == 0
    assert (tmp_path / "q.svg").read_text(encoding="utf-8").endswith("</svg>\n")


def test_a_graph_binds_the_names():
    done = run_in_process("?c : capital_of(?c, italy)", "--graph", "world")
    assert done.returncode == 0
    assert "PREFIX : <urn:pathformer:world:>" in done.stdout
    assert "as betae" in done.stdout
    wrong = run_in_process("?c : capital_of(?c, Itlay)", "--graph", "world")
    assert wrong.returncode == 2
    assert "no entity 'Itlay'; closest: 'Italy'" in wrong.stderr


def test_wrong_input_is_a_sentence():
    done = run_in_process("?x : r(a ?x)")
    assert done.returncode == 2
    assert done.stderr == "error: expected ',' after the first argument, found '?x'\n  ?x : r(a ?x)\n           ^\n"
