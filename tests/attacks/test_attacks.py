"""Files of bad intent: refused with a word why, at once, and without much memory."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import eigengraphs as eg
from eigengraphs.errors import InputError, ReadError, ReadNotice
from eigengraphs.system.limits import DEFAULT, Cap

HERE = Path(__file__).parent
ATTACKS = json.loads((HERE / "attacks.json").read_text())
SECONDS, BYTES = 1.0, 200_000_000  # of this process; a file that is refused takes no more


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """How each attack ended in one process with little memory, whose work folder is its own."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("memory is measured as Linux has it")
    folder = tmp_path_factory.mktemp("good")
    command = [sys.executable, "-W", "ignore", str(HERE / "child.py"), str(folder)]
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env, check=False)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 0, f"after {len(lines)} attacks: {run.stderr[-2000:]}"
    assert not (folder / "UNPICKLED").exists(), "a pickle was read"
    return {name: end for name, *end in lines}


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_is_refused_within_its_limits(name, ends):
    end, text, seconds, grown = ends[name]
    assert end == "refused", text
    assert ATTACKS[name]["says"] in text
    assert name in text  # which file it is
    assert seconds < SECONDS
    assert grown < BYTES


def test_giant_ids_are_names_and_make_no_giant_graph(tmp_path):
    path = tmp_path / "giant.edgelist"
    digits = "9" * 5000
    path.write_text(f"1 99999999999999999999\n2 9223372036854775807\n{digits} 1\n")
    stack = eg.read(path, directed=True)
    assert stack.n_vertices == 5
    assert digits in stack.vertex_names


def test_a_long_text_that_stands_in_many_rows_is_read_once(tmp_path):
    rows, long = 2**20, "a" * 2**16  # 69 GB, if every row had its own
    source = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), [long])
    table = pa.table({"source": source, "target": pa.array(np.ones(rows, np.int64))})
    path = tmp_path / "long.parquet"
    pq.write_table(table, path, store_schema=False)
    assert pq.ParquetFile(path).schema_arrow.field("source").type == pa.string()
    with pytest.warns(ReadNotice, match="several times|more than once|twice|added|repeated|edges"):
        stack = eg.read(path)
    assert stack.vertex_names == ("1", long)


# ---------------------------------------------------------------------- the cap


@pytest.mark.parametrize(
    ("held", "allowed"),
    [(0, 2**26), (1000, 2**26), (10**6, 2 * 10**8), (10**8, 2**31), (10**9, 8 * 10**9)],
)
def test_how_much_a_file_may_declare(held, allowed):
    assert DEFAULT.allowed(held) == allowed
    DEFAULT.check("x", allowed, held)
    with pytest.raises(ReadError, match=f"declares {allowed + 1:,} bytes, more than the cap of"):
        DEFAULT.check("x", allowed + 1, held)


def test_a_cap_that_is_set_holds_exactly():
    for text in ("1k", 1024, "1 KiB", "0.001M"):
        cap = Cap.of(text)
        assert cap.allowed(0) == cap.allowed(10**9) == (1048 if text == "0.001M" else 1024)
    for wrong in ("much", 0, -1, True, 1.5):
        with pytest.raises(InputError, match="max_bytes must be a number of bytes"):
            Cap.of(wrong)


def test_max_bytes_raises_the_cap_of_every_reader(tmp_path):
    """A file that is refused at a low cap is read, the same, at a higher one."""
    A = np.zeros((3, 40, 40))
    A[:, 1, 2] = A[:, 2, 1] = 1.0
    stack = eg.GraphStack(A)
    for name in ("a.npz", "a.mat", "a.parquet"):
        path = tmp_path / name
        eg.io.write(stack, path)
        with pytest.raises(ReadError, match="raise the cap with max_bytes="):
            eg.read(path, max_bytes=10)
        with pytest.raises(ReadError, match="more than the cap"):
            eg.io.convert_to_store(path, tmp_path / "out.egs", max_bytes=10)
        assert (eg.read(path, max_bytes="1G").dense == A).all()
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"0,1\n1,0\n"))
    with pytest.raises(ReadError, match="more than the cap"):
        eg.read(path, max_bytes=7, format="matrix")
    assert eg.read(path, max_bytes=8, format="matrix").n_vertices == 2


def test_the_command_line_says_and_takes_max_bytes(run):
    for more in ([], ["--max-bytes", "4G"]):
        code, _, said = run("check", HERE / "files" / "terabytes.npy", *more)
        assert code == 3
        assert "raise the cap with --max-bytes" in " ".join(said.split())
        assert ("cap of 4,294,967,296" in " ".join(said.split())) is bool(more)
