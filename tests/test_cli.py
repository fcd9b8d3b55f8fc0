"""The command line: what it promises on its streams, and its exit codes."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner, Result

import manymaps as mm
from manymaps.cli import cli
from manymaps.model import MULTIPLE_MAPS_T_SNE

WORDS = ["tie", "knot", "rope", "suit", "dress", "caf\u00e9"]


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "manymaps", *map(str, arguments)]


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, timeout=300, **options
    )


@pytest.fixture
def norms(tmp_path: Path) -> Path:
    """Two groups of words that share one, with a repeated pair and a response without a row."""
    groups = (WORDS[:3], [WORDS[0], *WORDS[3:]])
    pairs = [(a, b, 1 + len(b)) for group in groups for a in group for b in group if a != b]
    pairs += [("tie", "knot", 1), ("tie", "ribbon", 1)]
    file = tmp_path / "norms.csv"
    file.write_text(
        "cue,response,count\n" + "".join(f"{a},{b},{n}\n" for a, b, n in pairs), encoding="utf-8"
    )
    return file


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Enough random associations that a fit lasts until a signal arrives."""
    rng = np.random.default_rng(0)
    file = tmp_path / "large.csv"
    rows = [f"w{i},w{j},1\n" for i in range(600) for j in rng.choice(600, 8) if i != j]
    file.write_text("cue,response,count\n" + "".join(rows))
    return file


@pytest.fixture
def atlas(tmp_path: Path) -> Path:
    """The word tie in two maps, made by hand."""
    maps = np.zeros((2, 6, 2), dtype=np.float32)
    maps[0, :, 0] = [0, 0.1, 0.2, 9, 9, 9]
    maps[1, :, 0] = [0, 9, 9, 0.1, 0.2, 0.3]
    proportions = np.array([[0.6, 1, 1, 0, 0, 0], [0.4, 0, 0, 1, 1, 1]], dtype=np.float32)
    made = mm.Atlas(WORDS, maps, proportions, MULTIPLE_MAPS_T_SNE)
    made = made.add_metadata({"label": WORDS, "kind": list("aabbbb")})
    made.save(tmp_path / "made.atlas")
    return tmp_path / "made.atlas"


def fitted(norms: Path, *options: object) -> Result:
    output = norms.parent / "out.atlas"
    return invoke("fit", norms, "-o", output, "--maps", 2, "--iterations", 60, *options)


class TestStart:
    def test_version(self):
        assert invoke("--version").stdout == f"manymaps {mm.__version__}\n"

    @pytest.mark.parametrize("name", ["", *cli.commands])
    def test_help_has_an_example(self, name):
        result = invoke(*([name] if name else []), "--help")
        assert result.exit_code == 0
        assert f"manymaps {name}" in result.stdout

    def test_help_loads_nothing_heavy(self):
        code = (
            "import sys; from manymaps.cli import cli\n"
            "try: cli(['fit', '--help'])\n"
            "except SystemExit: pass\n"
            "print([m for m in ('numpy', 'scipy', 'rich', 'numba') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == "[]"

    def test_help_is_quick(self):
        def once() -> float:
            started = time.perf_counter()
            run("--help")
            return time.perf_counter() - started

        assert min(once() for _ in range(5)) < 0.3

    def test_unknown_command_is_a_usage_error(self):
        assert invoke("frobnicate").exit_code == 2


class TestInspect:
    def test_json_has_the_promised_keys(self, norms):
        result = invoke("inspect", norms, "--json")
        assert result.stderr == ""
        record = json.loads(result.stdout)
        assert record["n_objects"] == 6
        assert record["n_pairs"] == 18
        assert record["symmetric"] is False
        assert record["n_components"] == 1
        assert record["merged"] == 1
        assert record["dropped"] == 1

    def test_kept_responses_become_objects(self, norms):
        record = json.loads(invoke("inspect", norms, "--json", "--responses", "keep").stdout)
        assert record["n_objects"] == 7
        assert record["dropped"] == 0

    def test_report_for_a_person(self, norms):
        result = invoke("inspect", norms)
        assert re.search(r"objects +6\n", result.stdout)
        assert re.search(r"pairs +18\n", result.stdout)
        assert re.search(r"merged +1\n", result.stdout)
        assert "never a cue: 1" in result.stdout
        assert f"next: manymaps fit {norms} -o norms.atlas --maps 2" in result.stdout

    def test_columns_by_name(self, tmp_path):
        file = tmp_path / "odd.csv"
        file.write_text("p,q,r\na,b,1\nb,a,3\n")
        names = ("--cue", "p", "--response", "q", "--strength", "r")
        assert json.loads(invoke("inspect", file, *names, "--json").stdout)["n_pairs"] == 2

    def test_labels_of_a_matrix(self, tmp_path):
        np.save(tmp_path / "m.npy", np.ones((2, 2)))
        (tmp_path / "labels.txt").write_text("tie\nknot\n")
        result = invoke("inspect", tmp_path / "m.npy", "--labels", tmp_path / "labels.txt")
        assert "tie → knot" in result.stdout

    def test_labels_cannot_command_the_terminal(self, tmp_path):
        file = tmp_path / "odd.csv"
        file.write_text("cue,response\n\x1b[31mred,[bold]b\n[bold]b,\x1b[31mred\n")
        result = invoke("inspect", file)
        assert "\x1b" not in result.stdout
        assert "[bold]b" in result.stdout

    def test_norms_of_the_university_of_south_florida(self, data_folder):
        file = data_folder / "usf" / "usf_free_association.tsv.gz"
        record = json.loads(invoke("inspect", file, "--json").stdout)
        assert record["n_objects"] == 5018
        assert record["n_pairs"] + record["merged"] + record["dropped"] == 72176
        assert not record["symmetric"]


class TestFit:
    def test_json_has_the_promised_keys(self, norms):
        result = fitted(norms, "--json", "--quiet")
        assert result.exit_code == 0
        assert result.stderr == ""
        record = json.loads(result.stdout)
        assert record["method"] == "mm-tsne"
        assert record["n_objects"] == 6
        assert record["n_pairs"] == 18
        assert record["n_maps"] == 2
        assert record["n_components"] == 2
        assert 0 < record["n_iterations"] <= 60
        assert 0 <= record["kl_divergence"] < 2
        assert record["seconds"] > 0
        assert record["output"] == str(norms.parent / "out.atlas")

    def test_atlas_is_of_the_file(self, norms):
        fitted(norms)
        atlas = mm.load_atlas(norms.parent / "out.atlas")
        assert set(atlas.labels) == set(WORDS)
        assert atlas.n_maps == 2

    def test_summary_says_what_to_do_next(self, norms):
        result = fitted(norms)
        assert "KL divergence" in result.stdout
        assert "next: manymaps senses" in result.stdout
        assert "1 repeated pairs merged" in result.stderr

    def test_quiet_says_nothing(self, norms):
        result = fitted(norms, "--quiet")
        assert (result.stdout, result.stderr) == ("", "")

    def test_same_seed_gives_the_same_maps(self, norms):
        def positions(seed: int) -> np.ndarray:
            fitted(norms, "--seed", seed)
            return mm.load_atlas(norms.parent / "out.atlas").maps

        np.testing.assert_array_equal(positions(3), positions(3))
        assert not np.array_equal(positions(3), positions(4))

    @pytest.mark.parametrize("method", ["mm-tsne", "mm-sne", "aspect-maps"])
    def test_every_method_fits(self, norms, method):
        result = fitted(norms, "--method", method, "--dims", 3, "--json")
        assert result.exit_code == 0, result.stderr
        record = json.loads(result.stdout)
        assert record["method"] == method
        assert record["n_components"] == 3

    def test_options_reach_the_model(self, norms):
        result = fitted(
            norms, "--normalization", "joint", "--background", 0.1, "--penalty", 0, "--jobs", 1
        )
        assert result.exit_code == 0, result.stderr
        model = mm.load_atlas(norms.parent / "out.atlas").model
        assert model.normalization == "joint"
        assert model.background == 0.1

    def test_metadata_is_joined_by_label(self, norms, tmp_path):
        (tmp_path / "kinds.tsv").write_text("word\tkind\ntie\tcloth\nKNOT\trope\nbow\trope\n")
        result = fitted(norms, "--metadata", tmp_path / "kinds.tsv")
        assert "4 of 6 objects have no row" in result.stderr
        assert "1 rows of the metadata match no object, 'bow'" in result.stderr
        atlas = mm.load_atlas(norms.parent / "out.atlas")
        assert atlas.metadata["kind"][atlas.index("knot")] == "rope"

    def test_strict_fails_without_convergence(self, norms):
        result = fitted(norms, "--strict", "--iterations", 3)
        assert result.exit_code == 4
        assert "not converged" in result.stderr
        assert (norms.parent / "out.atlas").exists()

    def test_progress_stays_off_a_pipe(self, norms):
        done = run("fit", norms, "-o", norms.parent / "out.atlas", "--maps", 2)
        assert done.returncode == 0
        assert "it/s" not in done.stderr
        assert "\x1b" not in done.stderr + done.stdout

    def test_progress_on_a_terminal(self, norms):
        done = on_a_terminal("fit", norms, "-o", norms.parent / "o.atlas", "--maps", 2, "--json")
        assert done.returncode == 0
        assert json.loads(done.stdout)["n_maps"] == 2
        for part in ("iteration", "cost", "it/s", "left"):
            assert part in done.stderr

    def test_quiet_on_a_terminal(self, norms):
        options = ("--maps", 2, "--iterations", 60, "--quiet")
        done = on_a_terminal("fit", norms, "-o", norms.parent / "o.atlas", *options)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def on_a_terminal(
    *arguments: object, signal_: signal.Signals | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command whose stderr is a terminal; send a signal once iterations are counted."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command(*arguments),
        stdout=subprocess.PIPE,
        stderr=slave,
        text=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(slave)
    seen = ""
    while chunk := _read(master):
        seen += chunk.decode(errors="replace")
        if signal_ is not None and "it/s" in seen:
            process.send_signal(signal_)
            signal_ = None
    os.close(master)
    stdout, _ = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, seen)


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:
        # Linux says so when the last program has left the terminal.
        return b""


class TestInterruption:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_interrupted_fit_can_go_on(self, large, number):
        output, state = large.parent / "out.atlas", large.parent / "fit.state"
        fit = ("fit", large, "-o", output, "--maps", 4, "--seed", 1, "--checkpoint", state)
        done = on_a_terminal(*fit, "--iterations", 1_000_000, signal_=number)
        assert done.returncode == 130, done.stderr
        assert done.stdout == ""
        assert f"--resume {state}" in re.sub(r"\s+", " ", done.stderr)
        assert "Traceback" not in done.stderr
        assert sorted(path.name for path in large.parent.iterdir()) == ["fit.state", "large.csv"]

    def test_interruption_without_a_checkpoint(self, large):
        fit = ("fit", large, "-o", large.parent / "out.atlas", "--maps", 4)
        done = on_a_terminal(*fit, "--iterations", 1_000_000, signal_=signal.SIGINT)
        assert done.returncode == 130
        assert "--checkpoint" in done.stderr
        assert "Traceback" not in done.stderr
        assert [path.name for path in large.parent.iterdir()] == ["large.csv"]

    def test_resumed_fit_gives_the_maps_of_an_unbroken_one(self, large):
        """Where an interruption falls must not matter."""
        output, state = large.parent / "out.atlas", large.parent / "fit.state"
        fit = ("fit", large, "-o", output, "--maps", 4, "--seed", 1, "--iterations", 400)
        assert run(*fit, "--quiet").returncode == 0
        unbroken = mm.load_atlas(output)
        output.unlink()
        done = on_a_terminal(*fit, "--checkpoint", state, signal_=signal.SIGINT)
        assert done.returncode == 130
        assert not output.exists()
        assert run(*fit, "--resume", state, "--quiet").returncode == 0
        np.testing.assert_array_equal(mm.load_atlas(output).maps, unbroken.maps)


class TestSenses:
    def test_json_has_the_promised_keys(self, atlas):
        record = json.loads(invoke("senses", atlas, "TIE", "--json", "--neighbors", 1).stdout)
        assert record["word"] == "tie"
        assert [sense["map"] for sense in record["senses"]] == [0, 1]
        assert record["senses"][0]["proportion"] == pytest.approx(0.6)
        near = [sense["neighbors"] for sense in record["senses"]]
        assert [[n["label"] for n in neighbors] for neighbors in near] == [["knot"], ["suit"]]
        assert 0 < near[0][0]["similarity"] < 1

    def test_table_for_a_person(self, atlas):
        lines = invoke("senses", atlas, "tie").stdout.splitlines()
        assert lines[0] == "tie lives in 2 maps"
        assert re.fullmatch(r"map 0  60%  knot \.\d+, rope \.\d+", lines[1])

    def test_small_proportions_are_left_out(self, atlas):
        assert "1 map\n" in invoke("senses", atlas, "tie", "--min-proportion", 0.5).stdout

    def test_unknown_word_gets_suggestions(self, atlas):
        result = invoke("senses", atlas, "knto")
        assert result.exit_code == 3
        assert result.stdout == ""
        assert "no object is labelled 'knto'; did you mean 'knot'" in result.stderr

    def test_a_reader_that_has_seen_enough_is_no_error(self, atlas):
        process = subprocess.Popen(
            command("senses", atlas, "tie"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait() == 0

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
    def test_a_full_disk_under_stdout_is_told(self, atlas):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                command("senses", atlas, "tie"), stdout=full, stderr=subprocess.PIPE, text=True
            )
        assert done.returncode == 1
        assert "standard output cannot be written" in done.stderr
        assert "Traceback" not in done.stderr

    def test_a_terminal_without_accents_shows_them_escaped(self, atlas):
        russian = os.environ | {"PYTHONIOENCODING": "koi8-r"}
        assert r"caf\xe9" in run("senses", atlas, "suit", env=russian).stdout
        as_json = run("senses", atlas, "suit", "--json", env=russian).stdout
        labels = [near["label"] for near in json.loads(as_json)["senses"][0]["neighbors"]]
        assert "caf\u00e9" in labels


class TestPlotAndExport:
    @pytest.mark.parametrize(
        ("name", "start", "options"),
        [
            ("a.png", b"\x89PNG", ()),
            ("a.svg", b"<?xml", ("--map", "1,0")),
            ("a.pdf", b"%PDF", ("--map", "1", "--color", "kind")),
            ("b.png", b"\x89PNG", ("--word", "TIE", "--min-proportion", "0.2")),
        ],
    )
    def test_figure_of_each_kind(self, atlas, name, start, options):
        result = invoke("plot", atlas, "-o", atlas.parent / name, *options)
        assert result.exit_code == 0, result.stderr
        assert result.stdout == ""
        assert (atlas.parent / name).read_bytes().startswith(start)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--map", "2"), "there is no map 2; maps are 0 to 1"),
            (("--map", "one"), "'one' is no list of map numbers such as 3,7"),
            (("--color", "size"), "no column 'size'; it has kind"),
            (("--map", "0", "--word", "tie"), "not both"),
        ],
    )
    def test_wrong_choice_is_a_usage_error(self, atlas, options, message):
        result = invoke("plot", atlas, "-o", atlas.parent / "a.png", *options)
        assert result.exit_code == 2
        assert message in result.stderr
        assert not (atlas.parent / "a.png").exists()

    def test_unknown_word_to_plot(self, atlas):
        assert invoke("plot", atlas, "-o", atlas.parent / "a.png", "--word", "x").exit_code == 3

    def test_table(self, atlas):
        output = atlas.parent / "a.csv"
        assert invoke("export", atlas, "-o", output).exit_code == 0
        with output.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 12
        assert rows[-1]["label"] == "caf\u00e9"
        assert rows[-1]["kind"] == "b"

    def test_graph(self, atlas):
        output = atlas.parent / "a.graphml"
        assert invoke("export", atlas, "-o", output).exit_code == 0
        assert nx.read_graphml(output).number_of_nodes() == 6


class TestDemo:
    def test_demo_writes_an_atlas_and_a_figure(self, tmp_path):
        done = run("demo", "-o", tmp_path / "new" / "folder", "--json")
        assert done.returncode == 0, done.stderr
        record = json.loads(done.stdout)
        assert record["seconds"] < 120
        assert mm.load_atlas(record["output"]).senses("bank")
        assert Path(record["figure"]).read_bytes().startswith(b"\x89PNG")
