"""The lock of what developers have: as pyproject.toml asks, for every system, with hashes."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SYSTEMS = (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt"))
VERSIONS = ("3.11.0", "3.11.9", "3.12.0", "3.13.5")
ENVIRONMENTS = [
    default_environment()
    | {"python_full_version": version, "python_version": version.rpartition(".")[0]}
    | {"sys_platform": system, "platform_system": name, "os_name": os}
    for version in VERSIONS
    for system, name, os in SYSTEMS
]


def asked() -> list[Requirement]:
    """What the package and its extras for developers ask for, extras of its own resolved."""
    extras, waiting = PROJECT["optional-dependencies"], ["dev"]
    found = list(map(Requirement, PROJECT["dependencies"]))
    for extra in waiting:
        for requirement in map(Requirement, extras[extra]):
            if requirement.name == PROJECT["name"]:
                waiting += sorted(requirement.extras)
            else:
                found.append(requirement)
    return found


def pins() -> list[Requirement]:
    """The requirements of the lock, without their hashes."""
    whole = re.sub(r" \\\n", "", LOCK)
    return [Requirement(line.partition(" --hash")[0]) for line in whole.splitlines()
            if re.match("[a-z]", line)]  # fmt: skip


def pinned(environment: dict[str, str]) -> dict[str, str]:
    """The version of each package in an environment; never two of one."""
    here = [pin for pin in pins() if pin.marker is None or pin.marker.evaluate(environment)]
    versions = {pin.name: str(pin.specifier).removeprefix("==") for pin in here}
    assert len(versions) == len(here)
    return versions


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda e: " ".join(
    (e["sys_platform"], e["python_full_version"])))  # fmt: skip
def test_it_holds_what_pyproject_asks_for(environment):
    versions = pinned(environment)
    for requirement in asked():
        if requirement.marker is None or requirement.marker.evaluate(environment):
            name = canonicalize_name(requirement.name)
            assert name in versions, f"{requirement} is not locked: make lock"
            assert versions[name] in requirement.specifier, f"{requirement}: make lock"


def test_it_holds_nothing_that_nobody_asks_for():
    """The comments say who asked when it was made; what left pyproject.toml must leave it too."""
    direct = set()
    for line in LOCK.splitlines():
        name = re.match("([a-z0-9-]+)==", line)
        if name:
            present = name[1]
        elif line.strip(" #").removeprefix("via ").strip() == "manymaps (pyproject.toml)":
            direct.add(present)
    assert direct == {canonicalize_name(requirement.name) for requirement in asked()}


def test_packages_that_are_installed_here_find_what_they_ask_for():
    environment = {**default_environment(), "extra": ""}
    versions, seen = pinned(environment), 0
    for name, version in versions.items():
        distribution = next(iter(metadata.distributions(name=name)), None)
        if distribution is None or distribution.version != version:
            continue
        seen += 1
        for requirement in map(Requirement, distribution.requires or []):
            if requirement.marker is None or requirement.marker.evaluate(environment):
                there = versions.get(canonicalize_name(requirement.name), "nothing")
                assert there != "nothing", f"{name} asks for {requirement}"
                assert requirement.specifier.contains(there, prereleases=True), (name, requirement)
    assert seen > 5


def test_each_file_is_known_by_its_hash_and_no_host_is_named():
    files = re.findall(r"^[a-z].*(?:\n    --hash=.*)+", LOCK, re.MULTILINE)
    assert len(files) == len(pins()) == len(re.findall("^[a-z]", LOCK, re.MULTILINE))
    hashes = re.findall(r"--hash=(\S+)", LOCK)
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", digest) for digest in hashes)
    assert "://" not in LOCK


def test_what_is_asked_for_has_had_a_release_since_2024():
    page = (ROOT / "docs" / "develop" / "licences.md").read_text(encoding="utf-8")
    dates = dict(re.findall(r"^\| (\S+) \| [^|]+ \| (\d{4}-\d\d) \|", page, re.MULTILINE))
    old = {name: dates[name] for requirement in asked()
           if dates[name := canonicalize_name(requirement.name)] < "2024"}  # fmt: skip
    assert old == {}
