"""Small files that would take much room or time: long names, many columns, many members."""

import json
import struct
import time
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
from tools.build_attacks import array

import eigengraphs as eg
from eigengraphs import errors
from eigengraphs.cli.results_folder import FinishedFit
from eigengraphs.errors import InputError, ReadError
from eigengraphs.system.limits import read_json

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
    with pytest.raises(InputError, match="which does not exist"):
        FinishedFit(tmp_path).inputs()


@pytest.mark.parametrize("read", [eg.read, lambda path: eg.load(path, max_bytes="1M")])
def test_no_more_of_a_member_is_unpacked_than_it_declares(tmp_path, read):
    """150 MB in each of two members that declare 256 bytes; model.json is the first to be read."""
    path, content = tmp_path / "lying.npz", array(np.eye(4))
    for name in ("model.json", "a.npy"):
        with (
            zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive,
            archive.open(name, "w") as file,
        ):
            file.write(content)
            for _ in range(150):
                file.write(bytes(2**20))
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        for place in (data.index(mark), data.rindex(mark)):
            struct.pack_into("<I", data, place + at, len(content))
    path.write_bytes(data)
    with pytest.raises(InputError, match="Bad CRC-32"):
        read(path)


def test_an_archive_of_many_members_is_refused_before_they_are_read(tmp_path):
    path, content = tmp_path / "many.npz", array(np.eye(2))
    with zipfile.ZipFile(path, "w") as archive:
        for k in range(10_001):
            archive.writestr(f"a{k}.npy", content)
    with pytest.raises(ReadError, match="more than 10,000 members"):
        eg.read(path)


def test_no_message_is_longer_than_2000_characters(tmp_path):
    path = tmp_path / "many.npz"
    np.savez(path, **{f"array_{k}": np.eye(2) for k in range(500)})
    with pytest.raises(ReadError, match=r"characters left out.*key='all'") as caught:
        eg.read(path)
    assert len(str(caught.value)) <= 2000
    for name in errors.__all__:
        kind = getattr(errors, name)
        words = (LONG, LONG, LONG) if name == "MissingExtraError" else (LONG,)
        assert len(str(kind(*words))) <= 2000
        assert str(kind(*(["what"] * len(words)))).startswith("what")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warnings.warn(LONG, errors.ReadNotice, stacklevel=1)
    assert len(str(said[0].message)) <= 2000


@pytest.mark.parametrize("text", [b'"\\ud800"', b'"\xed\xa0\x80"', b'"\xff"'])
def test_half_a_character_is_no_json(text):
    with pytest.raises(ValueError, match=r"surrogates not allowed|can't decode"):
        read_json(text)


@pytest.mark.parametrize(
    "names", [{"graph_names": ["a", "\ud800"]}, {"vertex_names": ["\udfff", "b"]}]
)
def test_half_a_character_is_no_name(names):
    with pytest.raises(InputError, match="must hold text that UTF-8 can encode"):
        eg.GraphStack(np.ones((2, 2, 2)), **names)
