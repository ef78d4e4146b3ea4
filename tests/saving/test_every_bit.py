"""The model file: no bit can change, no byte be lost or added; files of old versions are read."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.saving.test_model_file import graphs
from tools.build_attacks import array, sealed

import eigengraphs as eg
from eigengraphs.errors import InputError

FILES = Path(__file__).parent / "files"

# Loadings of three new graphs, as the version that wrote the file gave them; the graphs are made
# again from their seed, in `new_graphs`.
LOADINGS = {
    "free": [[37.16039170558982, 3.0993772850719146], [32.02696488075462, -0.9915920648853527],
             [39.193104400390084, 1.706190382991602]],
    "class": [[0.7434659551846472, -0.014228438929721334],
              [0.6736988675531824, -0.03921478185906315],
              [0.7314014801469039, 0.029997672466202767]],
    "directed": [[7.597613718872307, 0.28265850834381356], [6.9315799512736564, 0.2376223116147271],
                 [7.645053397519883, 0.0507056028345259]],
    "penalized": [[31.576624823648654, 0.0], [26.22485249967781, 0.0],
                  [33.23735926501754, -0.7534957460969848]],
}  # fmt: skip


def new_graphs(kind):
    if kind == "directed":
        return eg.GraphStack(np.random.default_rng(1).random((3, 15, 15)))
    return graphs(m=3, seed=1)


@pytest.mark.parametrize(
    ("version", "kind"),
    [(version, kind) for version in (1, 2) for kind in ("free", "class", "directed")]
    + [(2, "penalized")],
)
def test_files_of_every_version_are_read(version, kind):
    je = eg.load(FILES / f"format{version}_{kind}.eg")
    found = je.transform(new_graphs(kind))
    np.testing.assert_allclose(found, LOADINGS[kind], rtol=1e-9)
    assert je.n_components_ == 2


def refused(path, content):
    path.write_bytes(content)
    with pytest.raises(InputError, match="model file"):
        eg.load(path)


def test_a_thousand_flipped_bits_are_refused(tmp_path):
    whole = (FILES / "format2_free.eg").read_bytes()
    rng = np.random.default_rng(0)
    tail = np.arange(8 * (len(whole) - 30), 8 * len(whole))  # the seal itself, among others
    places = np.concatenate([rng.choice(8 * len(whole), 760, replace=False), tail])
    assert len(places) == 1000
    for place in places.tolist():
        content = bytearray(whole)
        content[place // 8] ^= 1 << place % 8
        refused(tmp_path / "model.eg", content)


def test_two_hundred_truncations_and_additions_are_refused(tmp_path):
    whole = (FILES / "format2_free.eg").read_bytes()
    lengths = np.random.default_rng(1).choice(len(whole), 100, replace=False).tolist()
    for length in [*lengths, *range(50), *range(len(whole) - 50, len(whole))]:
        refused(tmp_path / "model.eg", whole[:length])
    refused(tmp_path / "model.eg", b"loadings\n1\n")
    for more in (b"\0", b"0", b"\n", whole):
        refused(tmp_path / "model.eg", whole + more)
        refused(tmp_path / "model.eg", more + whole)


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_seal_is_wanted_of_format_2_and_none_of_format_1(tmp_path):
    members = members_of(FILES / "format2_free.eg")
    path = tmp_path / "model.eg"
    path.write_bytes(sealed(members))
    assert eg.load(path).n_components_ == 2
    refused(path, sealed(members, seal=b"eigengraphs model, SHA-256 of nothing: "))
    tree = json.loads(members["model.json"]) | {"format": 3}
    path.write_bytes(sealed(members | {"model.json": json.dumps(tree)}))
    with pytest.raises(InputError, match="later version"):
        eg.load(path)


@pytest.mark.parametrize(
    "damage",
    ["link", "outside", "twice", "sparse", "many digits"],
)
def test_sealed_files_of_bad_intent_are_refused(damage, tmp_path):
    """Beside those of ``tests/attacks``."""
    members = members_of(FILES / "format2_free.eg")
    tree = json.loads(members["model.json"])
    match damage:
        case "link":
            info = zipfile.ZipInfo("array99.npy")
            info.external_attr = 0o120777 << 16
            members = members | {info: "/etc/passwd"}
        case "outside":
            members["../../array99.npy"] = members["array0.npy"]
        case "twice":
            members[zipfile.ZipInfo("model.json")] = members["model.json"]
        case "sparse":
            arrays = {"data": "[1.0]", "indices": "[99999999]", "indptr": "[0, 1, 1]"}
            members |= {f"{name}.npy": array(json.loads(text)) for name, text in arrays.items()}
            parts = {name: name for name in arrays}
            tree["state"]["dict"]["_seed"] = {"sparse": parts, "shape": [2, 2]}
            members["model.json"] = json.dumps(tree)
        case "many digits":
            members["model.json"] = '{"format": 2, "state": ' + "9" * 10**6 + "}"
    path = tmp_path / "model.eg"
    if damage == "twice":
        with pytest.warns(UserWarning, match="Duplicate"):
            content = sealed(members)
    else:
        content = sealed(members)
    path.write_bytes(content)
    with pytest.raises(InputError, match="model"):
        eg.load(path)
