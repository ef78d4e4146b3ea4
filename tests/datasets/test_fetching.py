"""Getting files: from a folder, from a server, and every way in which that may fail."""

import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from eigengraphs.datasets import fetch_hnu1, published_files
from eigengraphs.datasets.hnu1 import SCANS
from eigengraphs.errors import DatasetError, InputError

# Three hundred files as small as can be, in the place of those of hnu1: scan k has one edge, of
# weight k + 1.
TINY = {
    f"hnu1/sub-{subject:07d}_ses-{session}_dwi_desikan.ssv": f"1 70 {k + 1}\n".encode()
    for k, (subject, session) in enumerate(SCANS)
}
FIRST, LAST = next(iter(TINY)), next(reversed(TINY))
HOME = "jesusdaniel/multiGM/b9cf82e5/BrainData"


class Server(ThreadingHTTPServer):
    """A server of files on this machine that may misbehave, and remembers what it was asked."""

    def __init__(self, contents):
        super().__init__(("127.0.0.1", 0), Handler)
        self.contents = dict(contents)  # by name alone
        self.asked, self.declares, self.upto = [], True, None
        self.host = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        content = self.server.contents.get(self.path.rpartition("/")[2])
        self.send_response(404 if content is None else 200)
        if self.server.declares:
            self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write((content or b"")[: self.server.upto])
        self.close_connection = True

    def log_message(self, *args):
        pass


@contextmanager
def serving(contents, monkeypatch):
    with Server(contents) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(published_files, "HOST", server.host)
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def no_way_to_the_outside(monkeypatch, tmp_path):
    monkeypatch.delenv("EIGENGRAPHS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(published_files, "HOST", "http://127.0.0.1:9")  # nobody is there


@pytest.fixture
def tiny(monkeypatch):
    """The registry of the tiny files."""
    known = {
        path: published_files.PublishedFile(path, sha256(content).hexdigest(), len(content), HOME)
        for path, content in TINY.items()
    }
    monkeypatch.setattr(published_files, "registered", lambda: known)


@pytest.fixture
def server(tiny, monkeypatch):
    with serving({Path(path).name: TINY[path] for path in TINY}, monkeypatch) as server:
        yield server


def stored(folder):
    """Every file below a folder, hidden ones too."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def refused(folder, *said, **settings):
    """See that fetching ends in an error that says all of this."""
    with pytest.raises(DatasetError) as caught:
        fetch_hnu1(data_folder=folder, **settings)
    assert [text for text in map(str, said) if text not in str(caught.value)] == []


def put(contents, folder):
    for path, content in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


# ------------------------------------------------------------------------------ downloading


def test_absent_files_are_downloaded_once(server, tmp_path):
    hnu1 = fetch_hnu1(data_folder=tmp_path)
    assert stored(tmp_path) == TINY
    assert hnu1.graphs.dense[:, 0, 69].tolist() == list(range(1, 301))
    assert sorted(server.asked) == sorted(
        "/jesusdaniel/multiGM/b9cf82e5/BrainData/" + path.removeprefix("hnu1/") for path in TINY
    )
    fetch_hnu1(data_folder=tmp_path)
    fetch_hnu1(data_folder=tmp_path, download=False)
    assert len(server.asked) == 300


def test_a_folder_is_the_argument_else_the_variable_else_the_cache(server, tmp_path, monkeypatch):
    cache, named, given = tmp_path / "cache" / "eigengraphs", tmp_path / "named", tmp_path / "given"
    for folder in (cache, named, given):
        put({path: TINY[path] for path in TINY if path != LAST}, folder)
    fetch_hnu1()
    assert [LAST in stored(folder) for folder in (cache, named, given)] == [True, False, False]
    monkeypatch.setenv("EIGENGRAPHS_DATA", str(named))
    fetch_hnu1()
    assert [LAST in stored(folder) for folder in (cache, named, given)] == [True, True, False]
    fetch_hnu1(data_folder=str(given))
    assert [LAST in stored(folder) for folder in (cache, named, given)] == [True, True, True]
    assert len(server.asked) == 3
    monkeypatch.setenv("EIGENGRAPHS_DATA", "")  # as good as none
    fetch_hnu1(download=False)


# ------------------------------------------------------------------------------ failing


def test_a_file_with_another_content_is_not_stored(server, tmp_path):
    wrong = b"1 70 301\n"
    server.contents[Path(LAST).name] = wrong
    hashes = [sha256(content).hexdigest() for content in (TINY[LAST], wrong)]
    refused(tmp_path, server.host, Path(LAST).name, tmp_path / LAST, *hashes)
    # What came whole is kept, and what is still absent comes when next asked for.
    whole = stored(tmp_path)
    assert whole == {path: content for path, content in TINY.items() if path != LAST}
    server.contents[Path(LAST).name] = TINY[LAST]
    server.asked.clear()
    fetch_hnu1(data_folder=tmp_path)
    assert len(server.asked) == 300 - len(whole)


@pytest.mark.parametrize("declared", [True, False])
def test_a_tiny_file_cut_short_is_not_stored_whether_or_not_its_length_was_told(
    server, tmp_path, declared
):
    put({path: TINY[path] for path in TINY if path != FIRST}, tmp_path)
    server.declares, server.upto = declared, 3
    refused(tmp_path, "(7 bytes)", "IncompleteRead" if declared else "it is another file")
    assert stored(tmp_path).keys() == TINY.keys() - {FIRST}


def test_a_file_that_the_server_does_not_have_is_named(server, tmp_path):
    server.contents.clear()
    by_hand = f"by hand at {tmp_path / 'hnu1'}"
    refused(tmp_path, "404 Client Error", f"{server.host}/jesusdaniel/multiGM", by_hand)
    assert stored(tmp_path) == {}
    assert len(server.asked) == 1  # the first failure ends it


def test_without_a_network_the_address_and_the_folder_are_told(tiny, tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]  # free again when this block ends
    monkeypatch.setattr(published_files, "HOST", f"http://127.0.0.1:{port}")
    refused(tmp_path, f"cannot download http://127.0.0.1:{port}/{HOME}/",
            f"by hand at {tmp_path / 'hnu1'}")  # fmt: skip
    assert stored(tmp_path) == {}


# ------------------------------------------------------------------------------ the folder


def test_download_false_asks_nobody_and_says_what_is_absent(server, tmp_path):
    words = ("download=False", tmp_path / FIRST, "299 more", "EIGENGRAPHS_DATA")
    refused(tmp_path, *words, download=False)
    assert server.asked == []
    assert stored(tmp_path) == {}


def test_a_file_in_the_folder_that_is_not_the_published_one_is_refused_and_kept(server, tmp_path):
    put(TINY, tmp_path)
    (tmp_path / LAST).write_bytes(b"1 70 1\n")
    hashes = [sha256(content).hexdigest() for content in (TINY[LAST], b"1 70 1\n")]
    refused(tmp_path, "not the published file", tmp_path / LAST, *hashes, "delete it")
    assert server.asked == []
    assert (tmp_path / LAST).read_bytes() == b"1 70 1\n"


def test_a_folder_that_cannot_be_made_is_refused(server, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    place, other = tmp_path / "file" / "folder", "data_folder or the environment variable EIGEN"
    refused(place, f"into {place / 'hnu1'}: [Errno 20] Not a directory", other)


def test_a_folder_must_be_a_path():
    with pytest.raises(InputError, match="data_folder must be a path"):
        fetch_hnu1(data_folder=3)


# ------------------------------------------------------------------------------ the registry


def test_the_registry_is_that_of_the_folder(data_folder):
    sums = {}
    for folder in ("", "multiplex/"):  # which has its own list
        lines = (data_folder / folder / "SHA256SUMS").read_text().splitlines()
        each = map(str.split, lines)
        sums |= {folder + path.removeprefix("./"): digest for digest, path in each}
    known = published_files.registered()
    assert {path: file.sha256 for path, file in known.items()}.items() <= sums.items()
    assert all((data_folder / path).stat().st_size == file.size for path, file in known.items())


def test_every_file_has_an_address_but_six_that_were_renamed():
    known = published_files.registered()
    without = [path for path, file in known.items() if file.home == "-"]
    assert [path.endswith(".edges") for path in without] == [True] * 6
    assert len({file.address for file in known.values() if file.home != "-"}) == 308
    assert known["wiki/wiki_adj.RData"].address.endswith("/45e92062/data/wiki_adj.RData")
    assert known[FIRST].address == f"{published_files.HOST}/{HOME}/{Path(FIRST).name}"


def test_reading_from_a_folder_needs_no_package_for_downloads(data_folder):
    code = """
import sys
sys.modules.update(platformdirs=None, requests=None, rdata=None)
from eigengraphs.datasets import fetch_hnu1, fetch_wiki
from eigengraphs.errors import MissingExtraError
print(fetch_hnu1(data_folder=sys.argv[1]).graphs.n_graphs)
for fetch, folder in [(fetch_hnu1, None), (fetch_hnu1, "nowhere"), (fetch_wiki, sys.argv[1])]:
    try:
        fetch(data_folder=folder)
    except MissingExtraError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(data_folder)], capture_output=True, text=True, check=False
    )
    said = done.stdout.splitlines()
    assert said[:1] == ["300"], done.stderr
    for package, line in zip(["platformdirs", "requests", "rdata"], said[1:], strict=True):
        assert f"needs the package '{package}'" in line
    assert all("pip install 'eigengraphs[data]'" in line for line in said[1:])
    assert not Path("nowhere").exists()
