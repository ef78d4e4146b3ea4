"""Every public name is documented: what it takes, what it gives, and an example that runs.

The examples themselves run with ``pytest --doctest-modules src``. A summary line of a method that
begins with "Return" may say what is returned; functions say it in a section.
"""

import dataclasses
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import eigengraphs as eg

MODULES = [
    "eigengraphs",
    "eigengraphs.baselines",
    "eigengraphs.datasets",
    "eigengraphs.errors",
    "eigengraphs.inference",
    "eigengraphs.io",
    "eigengraphs.models",
    "eigengraphs.models.paper",
    "eigengraphs.plot",
    "eigengraphs.report",
    "eigengraphs.store",
    "eigengraphs.models.simulation",
]
# Their methods are those of a GraphStack, documented there, and what a fit asks of blocks.
STACKS = {eg.store.DaskStack, eg.store.StoredStack}
# The signature is that of GraphStack, and nobody calls it: open_store makes them.
NOT_CALLED = {eg.store.StoredStack}
# Examples that need files of others, or processes.
SKIPPED = {
    "AgriTrade", "DaskStack", "HNU1", "Multiplex", "USAirports", "Wiki", "connect",
    "fetch_agri_trade", "fetch_hnu1", "fetch_us_airports", "fetch_wiki", "load_multiplex",
    "paper_subset",
}  # fmt: skip


def public_names():
    """Return (place, object) for every name in an ``__all__``, each object once."""
    found = {}
    for module in MODULES:
        for name in import_module(module).__all__:
            thing = getattr(import_module(module), name)
            if not inspect.ismodule(thing):
                found.setdefault(id(thing), (f"{module}.{name}", thing))
    return list(found.values())


def is_documented_object(thing):
    return inspect.isclass(thing) or inspect.isroutine(thing)


def is_ours(thing):
    return (getattr(thing, "__module__", None) or "").startswith("eigengraphs")


def methods(place, cls):
    """Return the public methods of a class that this package defines, inherited ones too."""
    if cls in STACKS:
        return []
    names = [name for name in dir(cls) if not name.startswith("_")]
    found = [(f"{place}.{name}", getattr(cls, name)) for name in names]
    return [
        (where, method) for where, method in found if inspect.isroutine(method) and is_ours(method)
    ]


NAMES = public_names()
CONSTANTS = [(place, thing) for place, thing in NAMES if not is_documented_object(thing)]
OBJECTS = [(place, thing) for place, thing in NAMES if is_documented_object(thing)]
CLASSES = [(place, thing) for place, thing in OBJECTS if inspect.isclass(thing)]
FUNCTIONS = [(place, thing) for place, thing in OBJECTS if not inspect.isclass(thing)]
METHODS = [item for place, cls in CLASSES for item in methods(place, cls)]


def of_each(items):
    return pytest.mark.parametrize(
        ("place", "thing"), items, ids=[place.removeprefix("eigengraphs.") for place, _ in items]
    )


def sections(thing):
    """Return the text of each section of a docstring by its heading."""
    text = inspect.getdoc(thing) or ""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(text):
    """Return the names that a section describes: those of its lines that are not indented."""
    heads = re.findall(r"^(\S[^\n:]*?)(?: :.*)?$", text, flags=re.MULTILINE)
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def parameters(thing):
    if inspect.isclass(thing):
        own = [cls for cls in thing.__mro__ if is_ours(cls)]
        makes = any({"__init__", "__new__"} & set(vars(cls)) for cls in own)
        if thing in NOT_CALLED or not makes:
            return []
    return [name for name in inspect.signature(thing).parameters if name not in ("self", "cls")]


def test_the_walk_finds_what_there_is():
    found = {place.rpartition("eigengraphs.")[2] for place, _ in [*OBJECTS, *METHODS]}
    assert {"JointEmbedding.fit", "JointEmbedding.transform", "JointEmbedding.extend"} <= found
    assert {"GraphStack.log1p", "FlatEmbedding.score", "models.ErdosRenyi.sample"} <= found
    assert not {place for place in found if place.endswith("get_params")}
    assert len(OBJECTS) > 100
    assert len(METHODS) > 100


def test_what_is_missing_shows():
    def example(a, b, *c):
        """Do something.

        Parameters
        ----------
        a, *c : int
            Two of them.
        d
            Not there.

        Returns
        -------
        int
        """

    said = sections(example)
    assert list(said) == ["Parameters", "Returns"]
    assert described(said["Parameters"]) == {"a", "c", "d"}
    assert parameters(example) == ["a", "b", "c"]


@pytest.mark.parametrize("module", MODULES)
def test_modules_say_what_is_there_and_show_it(module):
    assert ">>> " in import_module(module).__doc__


@of_each([*OBJECTS, *METHODS])
def test_parameters_are_described_and_an_example_runs(place, thing):
    said = sections(thing)
    assert re.search(r"^>>> ", said.get("Examples", ""), flags=re.MULTILINE), "there is no example"
    # It is skipped only where it needs what is not there.
    assert place.rpartition(".")[2] in SKIPPED or "+SKIP" not in (inspect.getdoc(thing) or "")
    known = described(said.get("Parameters", ""))
    if dataclasses.is_dataclass(thing) or is_named_tuple(thing):
        known |= described(said.get("Attributes", ""))
    missing = [name for name in parameters(thing) if name not in known]
    assert not missing, f"{place} does not describe {missing}"


def is_named_tuple(thing):
    return inspect.isclass(thing) and issubclass(thing, tuple)


@of_each([*FUNCTIONS, *METHODS])
def test_what_is_returned_is_said(place, thing):
    summary = inspect.getdoc(thing).partition("\n")[0]
    told = re.search(r"\b([Rr]eturn|[Yy]ield|[Ss]ay|[Tt]ell|[Cc]ount)\b", summary)
    nothing = inspect.signature(thing).return_annotation in (None, "None")
    enough = (told or nothing) and (place, thing) in METHODS
    assert enough or {"Returns", "Yields"} & set(sections(thing)), place


@of_each(CLASSES)
def test_properties_are_described(place, thing):
    for name, member in inspect.getmembers(thing, lambda value: isinstance(value, property)):
        if is_ours(member.fget) and not name.startswith("_"):
            assert member.__doc__, f"{place}.{name}"


@of_each(CONSTANTS)
def test_constants_have_a_comment(place, thing):
    name = place.rpartition(".")[2]
    texts = [path.read_text("utf-8") for path in Path(eg.__file__).parent.rglob("*.py")]
    assert any(re.search(rf"^#: .*\n{name}\b", text, flags=re.MULTILINE) for text in texts), place
