"""Update the output and the picture in the README from the demo.

    make demo && python scripts/update_readme.py demo/demo.atlas [--check]

Each line of the README that starts with "$ manymaps" is followed by the output of that command, and
docs/bank.png shows the senses of the word that the demo draws. Both are taken from the atlas. The
picture stores the senses that it shows as text, because its pixels depend on installed fonts.

With --check nothing is written; the exit code is 1 if either differs from the atlas. The last
digits of a fit and the order of its maps depend on the version of the compiler. The check therefore
compares words exactly and numbers with a tolerance, and leaves out which map is named.
"""

from __future__ import annotations

import argparse
import math
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

from PIL import Image

import manymaps as mm
from manymaps.cli.demo import DEMO_WORD

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "bank.png"
COMMAND = re.compile(r"(?<=^    \$ )manymaps (.+)\n(?:    .*\n)+", re.MULTILINE)

NAMED_MAP = re.compile(r"map \d+")
NUMBER = re.compile(r"\d*\.?\d+")


def output(arguments: list[str], atlas: Path) -> str:
    """Run a command with the demo's atlas instead of the one that the README names."""
    words = [str(atlas) if word.endswith(".atlas") else word for word in arguments]
    command = [sys.executable, "-m", "manymaps", *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout.rstrip()


def updated(readme: str, atlas: Path) -> str:
    def block(match: re.Match[str]) -> str:
        answer = output(shlex.split(match[1]), atlas)
        return f"manymaps {match[1]}\n{textwrap.indent(answer, '    ')}\n"

    return COMMAND.sub(block, readme)


def agree(shown: str, current: str) -> bool:
    """Whether outputs differ at most in the map they name, by 0.03, or by 3 in whole numbers."""
    shown, current = (NAMED_MAP.sub("map", text) for text in (shown, current))
    words, current_words = (NUMBER.sub("#", text).split() for text in (shown, current))
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(current), strict=False)
    return words == current_words and all(
        math.isclose(float(old), float(new), rel_tol=0, abs_tol=0.03 if "." in old else 3)
        for old, new in pairs
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("atlas", type=Path, help="the atlas that `manymaps demo` wrote")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    readme = README.read_text(encoding="utf-8")
    expected = updated(readme, options.atlas)
    senses = output(["senses", str(options.atlas), DEMO_WORD], options.atlas)
    if options.check:
        with Image.open(PICTURE) as picture:
            shown = picture.info.get("Description", "")
        faults = [README.name] * (not agree(readme, expected))
        faults += [PICTURE.name] * (not agree(shown, senses))
        for name in faults:
            print(f"{name} is not from this demo; run `make readme`")
        return 1 if faults else 0
    README.write_text(expected, encoding="utf-8")
    figure = mm.plot_senses(mm.load_atlas(options.atlas), DEMO_WORD)
    figure.savefig(PICTURE, dpi=200, metadata={"Description": senses})
    return 0


if __name__ == "__main__":
    sys.exit(main())
