"""Build the bundled mouse connectomes from an unpacked graspologic 3.4.4 wheel.

Usage::

    pip download graspologic==3.4.4 --no-deps -d wheel
    python -m zipfile -e wheel/graspologic-3.4.4-*.whl unpacked
    python tools/build_mice.py unpacked

Every file that is read is checked against the digests in the wheel's ``RECORD``; every number
and name that the loader relies on is checked here, once. The bundle depends on its input (and
on the version of zlib) alone: no time, no user and no path goes into it.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np

WHEEL = "graspologic-3.4.4.dist-info"
MICE = "graspologic/datasets/mice"
DATA = Path(__file__).parents[1] / "src" / "eigengraphs" / "datasets" / "data"
N_SUBJECTS = 32
N_REGIONS = 332
LARGEST_BUNDLE = 2_500_000
SOURCE = """\
The file mice.npz holds the 32 mouse connectomes (edge lists, participants, atlas and blocks)
that ship with the Python package graspologic, version 3.4.4, in the folder
graspologic/datasets/mice. They were put into another file format; no value was changed.
graspologic, these files included, is distributed under the licence below.

--------------------------------------------------------------------------------

"""


class Wheel:
    """The files of an unpacked wheel, each checked against the wheel's own digests."""

    def __init__(self, root: Path) -> None:
        self.root = root
        with (root / WHEEL / "RECORD").open(newline="", encoding="utf-8") as lines:
            self.digests = {name: digest for name, digest, _ in csv.reader(lines)}

    def text(self, name: str) -> str:
        """Return the text of one file, or stop if it is not the file that was published."""
        content = (self.root / name).read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        if self.digests.get(name) != f"sha256={digest}":
            raise SystemExit(f"{name} does not have the digest that {WHEEL}/RECORD gives it")
        return content.decode("utf-8")

    def table(self, name: str) -> list[dict[str, str]]:
        """Return the rows of one comma-separated file."""
        return list(csv.DictReader(io.StringIO(self.text(f"{MICE}/{name}"))))


def read_edges(text: str, subject: str) -> np.ndarray:
    """Return one symmetric hollow matrix of whole weights, shape (n, n), from its edge list."""
    fields = np.array([line.split() for line in text.splitlines()])
    ends = fields[:, :2].astype(np.int64)
    weights = fields[:, 2].astype(np.float64)
    low, high = ends.min(axis=1), ends.max(axis=1)
    check(low.min() >= 0 and high.max() < N_REGIONS, f"{subject}: a region is out of range")
    check(bool((low < high).all()), f"{subject}: a loop is listed")
    check(np.unique(low * N_REGIONS + high).size == low.size, f"{subject}: a pair is listed twice")
    whole = weights.astype(np.int64)
    check(bool((whole == weights).all()), f"{subject}: a weight is not whole")
    check(whole.min() >= 1 and whole.max() < 2**24, f"{subject}: a weight does not fit 3 bytes")
    A = np.zeros((N_REGIONS, N_REGIONS), dtype=np.int64)
    A[low, high] = A[high, low] = whole
    return A


def read_regions(wheel: Wheel) -> dict[str, np.ndarray]:
    """Return what is known of each region, arrays of length n: the atlas, left then right."""
    atlas = wheel.table("atlas.csv")
    check([row["ROI"] for row in atlas] == [str(i + 1) for i in range(166)], "atlas: wrong regions")
    hemispheres, blocks = [], []
    for row in wheel.table("blocks.csv"):
        check(int(row["i"]) == len(blocks), "blocks: a block does not start where one ends")
        size = int(row["j"]) - int(row["i"])
        blocks += [row["block"]] * size
        hemispheres += [row["hemisphere"]] * size
    macrostructures = [row["Macrostructure"] for row in atlas]
    check(hemispheres == ["L"] * 166 + ["R"] * 166, "blocks: left and right are not the halves")
    check(blocks == macrostructures * 2, "blocks: they contradict the macrostructures of the atlas")
    levels = [[row[f"Level_{level}"] for level in (1, 2, 3, 4)] for row in atlas]
    regions = {
        "structures": np.array([row["Structure"] for row in atlas] * 2),
        "abbreviations": np.array([row["Abbreviation"] for row in atlas] * 2),
        "hemispheres": np.array(hemispheres),
        "blocks": np.array(blocks),
        "levels": np.array(levels * 2),
    }
    check(np.unique(regions["abbreviations"]).size == 166, "atlas: an abbreviation is used twice")
    return regions


def check(holds: bool, complaint: str) -> None:
    """Stop with the complaint unless the condition holds."""
    if not holds:
        raise SystemExit(complaint)


def pack(A: np.ndarray) -> np.ndarray:
    """Return the upper triangles as byte planes, shape (3, n(n-1)/2, m), lowest byte first.

    One region pair of all mice is kept together, since mice resemble each other more than
    pairs do. Measured: 1.57 MB so, 1.74 MB mouse by mouse, 2.27 MB as 4-byte integers, and
    1.51 MB with the zeros left out and kept as a bit mask, too little gain for a second array.
    """
    s, t = np.triu_indices(A.shape[1], k=1)
    pairs = A[:, s, t].T
    return np.stack([(pairs >> shift & 255).astype(np.uint8) for shift in (0, 8, 16)])


def write_bundle(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write an ``.npz`` file with a fixed date, so that equal arrays give equal bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            bundle.writestr(entry, member.getvalue(), compresslevel=9)


def verify_bundle(path: Path, A: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
    """Stop unless the written file gives back every weight and every name."""
    with np.load(path, allow_pickle=False) as bundle:
        check(set(bundle.files) == set(arrays), "bundle: wrong fields")
        for name, array in arrays.items():
            check(np.array_equal(bundle[name], array), f"bundle: {name} changed")
        low, middle, high = bundle["weight_bytes"].astype(np.int64)
    s, t = np.triu_indices(N_REGIONS, k=1)
    back = np.zeros_like(A)
    back[:, s, t] = (low + 256 * middle + 65536 * high).T
    check(np.array_equal(back + back.transpose(0, 2, 1), A), "bundle: a weight changed")
    check(path.stat().st_size <= LARGEST_BUNDLE, "bundle: the file is too large")


def main() -> None:
    """Read the wheel, write the bundle and its licence, print the facts that tests repeat."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, help="folder of the unpacked wheel")
    parser.add_argument("--output", type=Path, default=DATA, help="folder for the bundle")
    options = parser.parse_args()

    wheel = Wheel(options.wheel)
    participants = wheel.table("participants.csv")
    subjects = [row["participant_id"] for row in participants]
    listed = sorted(
        Path(name).name for name in wheel.digests if name.startswith(f"{MICE}/edgelists/")
    )
    files = [f"{subject}_ses-1_dti.edgelist" for subject in subjects]
    check(len(subjects) == N_SUBJECTS and files == listed, "participants and edge lists differ")
    A = np.stack(
        [
            read_edges(wheel.text(f"{MICE}/edgelists/{file}"), subject)
            for file, subject in zip(files, subjects, strict=True)
        ]
    )
    arrays = {
        "weight_bytes": pack(A),
        "subjects": np.array(subjects),
        "genotypes": np.array([row["genotype"] for row in participants]),
        "sexes": np.array([row["sex"] for row in participants]),
        **read_regions(wheel),
    }
    path = options.output / "mice.npz"
    write_bundle(path, arrays)
    verify_bundle(path, A, arrays)
    licence = wheel.text(f"{WHEEL}/LICENSE.txt").replace("\r\n", "\n")
    (options.output / "mice-LICENSE.txt").write_text(SOURCE + licence, encoding="utf-8")

    edges = np.count_nonzero(A, axis=(1, 2)) // 2
    totals = A.sum(axis=(1, 2)) // 2
    s, t = np.triu_indices(N_REGIONS, k=1)
    mice_with_pair = np.count_nonzero(A[:, s, t], axis=0)
    print(f"file: {path.stat().st_size} bytes, {hashlib.sha256(path.read_bytes()).hexdigest()}")
    print(f"edges: {edges.sum()} in all, {edges.min()} to {edges.max()} a mouse")
    print(f"weights: 1 to {A.max()}, {totals.sum()} in all")
    print(f"total weight of a mouse: {totals.min()} to {totals.max()}")
    print(f"pairs linked in every mouse: {np.count_nonzero(mice_with_pair == N_SUBJECTS)}")
    print(f"pairs linked in no mouse: {np.count_nonzero(mice_with_pair == 0)}")
    print(f"fewest links of a region in a mouse: {np.count_nonzero(A, axis=2).min()}")
    for subject, count, total in zip(subjects, edges, totals, strict=True):
        print(subject, count, total)


if __name__ == "__main__":
    main()
