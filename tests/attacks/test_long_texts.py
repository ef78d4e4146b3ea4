"""Small texts that would take much room or time: long names, many columns, many braces."""

import json
import time
import tracemalloc

import pytest

import eigengraphs as eg
from eigengraphs.errors import InputError, ReadError
from eigengraphs.job.finished import FinishedFit

# Of CPU, traced: 1 to 2 on a busy machine and under coverage, 74 where the square was taken.
SECONDS, BYTES = 6.0, 100_000_000
LONG = "v" * 10**6


@pytest.fixture(autouse=True)
def _limits():
    tracemalloc.start()
    start = time.process_time()
    yield
    seconds, (_, highest) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < SECONDS
    assert highest < BYTES


def test_one_long_name_among_many_vertices_is_read(tmp_path):
    path = tmp_path / "g.edgelist"
    lines = [f"a{i} a{i + 1} 1" for i in range(200)]
    path.write_text("\n".join([*lines, f"{LONG} a0 1", ""]))
    stack = eg.read(path, directed=True)
    assert stack.n_vertices == 202
    assert LONG in stack.vertex_names
    assert stack.vertex_names[:3] == ("a0", "a1", "a2")


@pytest.mark.parametrize("read", [eg.io.read_participants, eg.io.read_vertices])
def test_a_long_cell_in_a_table_of_many_rows_is_refused(tmp_path, read):
    path = tmp_path / "table.tsv"
    rows = [f"{i}\tb" for i in range(1, 2000)]
    path.write_text("\n".join(["id\tname", f"0\t{LONG}", *rows, ""]))
    with pytest.raises(ReadError, match="a cell of 1,000,000 letters in column 'name'"):
        read(path)


def test_a_long_name_in_a_bare_list_of_vertices_is_refused(tmp_path):
    path = tmp_path / "vertices.txt"
    path.write_text("\n".join([LONG, *(f"v{i}" for i in range(2000)), ""]))
    with pytest.raises(ReadError, match="a cell of 1,000,000 letters"):
        eg.io.read_vertices(path)


def test_a_column_that_is_there_twice_is_found_among_many(tmp_path):
    path = tmp_path / "participants.tsv"
    path.write_text("\t".join(["participant_id", *(f"c{i}" for i in range(50_000)), "c49999"]))
    with pytest.raises(ReadError, match="two columns are called 'c49999'"):
        eg.io.read_participants(path)


def test_people_are_joined_in_time_that_does_not_grow_with_the_square(tmp_path):
    path = tmp_path / "participants.tsv"
    names = [str(i) for i in range(10_000)]
    path.write_text("\n".join(["participant_id\tage", *(f"{name}\t1" for name in names), ""]))
    joined = eg.io.join(names[1:], eg.io.read_participants(path))
    assert joined.rows_without_graph == ("0",)


@pytest.mark.parametrize("braces", ["{", "{}"])
def test_lines_of_braces_take_no_time(tmp_path, braces):
    path = tmp_path / "g.csv"
    path.write_text(f"{braces * 50_000}a\n0,1\n")
    with pytest.raises(ReadError, match="line 1"):
        eg.read(path)


def test_a_manifest_with_a_path_too_long_is_refused(tmp_path):
    path = tmp_path / "manifest.tsv"
    path.write_text(f"path\tid\n{'a' * 5000}\tx\n")
    with pytest.raises(ReadError, match="line 2: there is no file 'aaa"):
        eg.read(path)


@pytest.mark.parametrize("inputs", [["a"], 5, None])
def test_a_folder_of_results_with_other_things_in_its_provenance_is_refused(tmp_path, inputs):
    (tmp_path / "provenance.json").write_text(json.dumps({"inputs": inputs}))
    with pytest.raises(InputError, match="does not hold what eigengraphs fit writes"):
        _ = FinishedFit(tmp_path).provenance


def test_results_of_graphs_in_a_place_with_too_long_a_name_are_refused(tmp_path):
    reading = {"source": "a" * 5000, "how": {}}
    (tmp_path / "provenance.json").write_text(json.dumps({"reading": reading, "inputs": []}))
    with pytest.raises(InputError, match="is not there"):
        FinishedFit(tmp_path).inputs()
