"""``python -m tools.release``: build, look into the wheel, install it twice and use it.

Needs the packages build, twine and uv (``pip install -e '.[release]'``). Environments are made
in a temporary folder: one with the lowest versions that ``pyproject.toml`` allows, one with the
newest that there are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
MOST_BYTES = 4_000_000
# What a wheel may hold beside its metadata.
ENDINGS = {".py", ".typed", ".npz", ".txt", ".md", ".js", ".css", ".html", ".json", ".toml"}


def main() -> int:
    """Check everything; stop at the first thing that is wrong."""
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        folder = Path(name)
        _run(sys.executable, "-m", "build", "--quiet", "--outdir", folder / "dist", ROOT)
        (wheel,) = (folder / "dist").glob("*.whl")
        (source,) = (folder / "dist").glob("*.tar.gz")
        wrong = wheel_faults(wheel)
        if wrong:
            print("\n".join(wrong))
            return 1
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB; "
              f"{source.name}: {source.stat().st_size / 1e6:.2f} MB", flush=True)  # fmt: skip
        _run(sys.executable, "-m", "twine", "check", "--strict", wheel, source)
        for resolution in ("lowest-direct", "highest"):
            environment = folder / resolution
            python = environment / "bin" / "python"
            _run(sys.executable, "-m", "uv", "venv", "--quiet", "--python", sys.executable,
                 environment)  # fmt: skip
            _run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python,
                 "--resolution", resolution, wheel, *_dependencies())  # fmt: skip
            print(f"{resolution}:", flush=True)
            _run(python, "-W", "error::DeprecationWarning", ROOT / "tools" / "release" / "smoke.py",
                 cwd=folder)  # fmt: skip
    return 0


def wheel_faults(wheel: Path) -> list[str]:
    """Return what a wheel should not be or hold."""
    wrong = []
    size = wheel.stat().st_size
    if size > MOST_BYTES:
        wrong.append(f"{wheel.name} has {size} bytes, more than {MOST_BYTES}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for name in names:
        path = PurePosixPath(name)
        about = path.parts[0].endswith(".dist-info")
        if path.parts[0] != "eigengraphs" and not about:
            wrong.append(f"{name} belongs to no package of ours")
        elif not about and path.suffix not in ENDINGS:
            wrong.append(f"{name} is no source and no data")
        elif {"__pycache__", "tests", "build"} & set(path.parts):
            wrong.append(f"{name} is left over from building or testing")
    if not any(name.endswith("licenses/LICENSE") for name in names):
        wrong.append("there is no LICENSE")
    return wrong


def _dependencies() -> list[str]:
    """Return what the core needs; only what is asked for by name is taken at its lowest."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [str(requirement) for requirement in project["dependencies"]]


def _run(*words: object, cwd: Path | None = None) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([str(word) for word in words], cwd=cwd, env=environment, check=True)


if __name__ == "__main__":
    sys.exit(main())
