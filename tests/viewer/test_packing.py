"""The packed atlas, read back by a reader that knows the format's description alone."""

import gzip
import json
import struct
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.analysis.fitted_vectors import FittedVectors
from manymaps.atlas.associations import stored_associations
from manymaps.atlas.atlas import Atlas
from manymaps.atlas.landmarks import principal_plane, standing
from manymaps.atlas.landmarks import view as view_of
from manymaps.errors import ParameterError
from manymaps.labels import UnknownLabelError
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE, T_SNE
from manymaps.viewer.options import PageOptions
from manymaps.viewer.packing import pack_page

LARGEST = float(np.finfo(np.float32).max)
TYPES = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "f4": "<f4", "f8": "<f8"}


class Read:
    """A packed atlas, taken apart."""

    def __init__(self, packed: bytes):
        data = gzip.decompress(packed)
        magic, version, length = struct.unpack_from("<8sII", data)
        assert (magic, version) == (b"manymaps", 2)
        self.header: dict[str, Any] = json.loads(data[16 : 16 + length].decode("utf-8"))
        start = -(-(16 + length) // 8) * 8
        assert not any(data[16 + length : start])
        assert len(data) == start + self.header["total"]
        self.blocks: dict[str, np.ndarray] = {}
        for name, block in self.header["blocks"].items():
            assert block["offset"] % 8 == 0
            at = start + block["offset"]
            self.blocks[name] = np.frombuffer(data, TYPES[block["dtype"]], block["length"], at)

    def of(self, name: str, map: int) -> np.ndarray:
        """The values of the entries of a map."""
        return self.blocks[name][slice(*self.blocks["offsets"][map : map + 2])]

    def charges(self, map: int) -> np.ndarray:
        scale = self.header["charges"]
        return np.exp(scale["low"] + scale["step"] * self.of("charges", map))

    def coordinates(self, map: int) -> np.ndarray:
        """Coordinates of the entries of a map, (k, n_components)."""
        d = self.header["nComponents"]
        own = slice(*self.blocks["offsets"][map : map + 2])
        packed = self.blocks["positions"].reshape(d, -1)[:, own].T
        if packed.dtype == np.float32:
            return packed
        scale = self.header["maps"][map]
        return np.array(scale["low"]) + np.array(scale["step"]) * packed

    def points(self, map: int) -> np.ndarray:
        """The points that are drawn, (k, 2)."""
        coordinates, d = self.coordinates(map), self.header["nComponents"]
        if d <= 2:
            return np.pad(coordinates, ((0, 0), (0, 2 - d)))
        axes = self.blocks["axes"].reshape(-1, d, 2)[map]
        return (coordinates - self.blocks["middles"].reshape(-1, d)[map]) @ axes

    def column(self, name: str) -> tuple[dict[str, Any], list[Any]]:
        """What the header says of a column, and its values, None for none."""
        number = [column["name"] for column in self.header["columns"]].index(name)
        column = self.header["columns"][number]
        if column["type"] in ("text", "image"):
            assert f"column/{number}" not in self.blocks
            return column, column["values"]
        block = self.blocks[f"column/{number}"]
        if column["type"] == "number":
            return column, [None if np.isnan(value) else float(value) for value in block]
        return column, [None if c == 65535 else column["categories"][c] for c in block]


def read(atlas: Atlas, **options: Any) -> Read:
    return Read(pack_page(atlas, PageOptions(**options)))


def several(n: int = 60, n_maps: int = 4, d: int = 2, **fields: Any) -> Atlas:
    """Objects that live in one to three of several maps."""
    rng = np.random.default_rng(n + d)
    proportions = rng.random((n_maps, n)) * (rng.random((n_maps, n)) < 0.5)
    proportions[rng.integers(n_maps, size=n), np.arange(n)] += 0.5
    proportions = (proportions / proportions.sum(axis=0)).astype(np.float32)
    maps = rng.normal(scale=5, size=(n_maps, n, d)).astype(np.float32)
    labels = [f"word {i}" for i in range(n)]
    return Atlas(labels, maps, proportions, MULTIPLE_MAPS_T_SNE, **fields)


def single(labels: list[str], **fields: Any) -> Atlas:
    """One map of points on a circle."""
    turn = np.arange(len(labels)) * 2.4
    maps = np.column_stack([np.cos(turn), np.sin(turn)])[None]
    return Atlas(labels, maps, np.ones((1, len(labels))), T_SNE, **fields)


def feature(weight: Any = 1, members: Any = ("w0",)) -> SimpleNamespace:
    return SimpleNamespace(weight=weight, members=members)


class TestSenses:
    @pytest.fixture
    def atlas(self) -> Atlas:
        rng = np.random.default_rng(2)
        circles = rng.random((60, 10)) < 0.15
        table = rng.random((60, 60)) * (circles @ circles.T)
        np.fill_diagonal(table, 0)
        table[5] = 0
        return several(associations=stored_associations(sparse.csr_array(table)))

    def senses_in(self, found: Read, i: int) -> list[tuple[int, float, list[int]]]:
        """The map, the share and the members of each sense of an object."""
        blocks = found.blocks
        senses = slice(*blocks["sense/offsets"][i : i + 2])
        own = slice(*blocks["data/offsets"][i : i + 2])
        maps, partners = blocks["data/maps"][own], blocks["data/partners"][own]
        shares = blocks["sense/shares"][senses].tolist()
        return [
            (m, share, partners[maps == m].tolist())
            for m, share in zip(blocks["sense/maps"][senses].tolist(), shares, strict=True)
        ]

    def test_they_and_their_associates_are_those_of_the_atlas(self, atlas):
        found = read(atlas)
        assert found.header["observed"]
        n_several = 0
        for i, label in enumerate(atlas.labels):
            table = atlas.associates(label)
            senses = atlas.senses(label, n_neighbors=60) if len(table) else []
            n_several += len(senses) > 1
            listed = self.senses_in(found, i)
            assert [m for m, _, _ in listed] == [sense.map for sense in senses]
            for (_, share, members), sense in zip(listed, senses, strict=True):
                assert share == pytest.approx(sense.share, rel=1e-6)
                labels = [atlas.labels[j] for j in members]
                assert labels == [near.label for near in sense.neighbors]
                assert tuple(labels[:3]) == sense.name
            row = slice(*found.blocks["data/offsets"][i : i + 2])
            partners = found.blocks["data/partners"][row]
            assert [atlas.labels[j] for j in partners] == list(table["label"])
            shares = found.blocks["data/shares"][row] / 65535
            np.testing.assert_allclose(shares, table["strength"], atol=1 / 65535)
            expected = np.where(table["close"], table["map"], atlas.n_maps)
            assert found.blocks["data/maps"][row].tolist() == expected.tolist()
        assert n_several > 5
        examples = found.header["examples"]
        assert examples
        for rank, i in enumerate(examples):
            assert len(atlas.senses(atlas.labels[i])) > 1
            assert not atlas.associations[[i]].toarray()[0, examples[:rank]].any()
        weights = atlas.map_weights
        spread = -(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=0)
        bare = read(replace(atlas, associations=None))
        np.testing.assert_allclose(spread[bare.header["examples"]], np.sort(spread)[:-5:-1])
        assert not bare.header["observed"]
        assert not any(name.startswith(("sense/", "data/")) for name in bare.blocks)

    def test_many_objects_have_fewer_associates_and_all_names(self, atlas, monkeypatch):
        whole = read(atlas)
        monkeypatch.setattr("manymaps.viewer.senses.MANY_OBJECTS", 59)
        monkeypatch.setattr("manymaps.viewer.senses.FEW_PARTNERS", 2)
        found = read(atlas)
        assert len(found.blocks["data/maps"]) < len(whole.blocks["data/maps"]) - 50
        for i in range(60):
            expected, listed = self.senses_in(whole, i), self.senses_in(found, i)
            assert [of for *of, _ in listed] == [of for *of, _ in expected]
            assert [own[:3] for *_, own in listed] == [own[:3] for *_, own in expected]


class TestEntries:
    def test_every_entry_within_half_a_step(self):
        atlas = several()
        found = read(atlas)
        for m in range(atlas.n_maps):
            objects = found.of("objects", m)
            np.testing.assert_array_equal(
                objects, np.flatnonzero(atlas.proportions[m] >= 0.5 / 65535)
            )
            stored = found.charges(m)
            np.testing.assert_allclose(stored, atlas.proportions[m, objects], rtol=1e-4)
            weights = found.of("weights", m) / 65535
            assert weights.min() > 0
            np.testing.assert_allclose(weights, atlas.map_weights[m, objects], atol=1.01 / 65535)
            step = np.array(found.header["maps"][m]["step"])
            assert (step <= 0.01).all()
            off = np.abs(found.coordinates(m) - atlas.maps[m, objects])
            assert (off <= 0.501 * step).all()

    def test_in_one_map_every_object_has_its_full_weight(self):
        found = read(single(["alone"]))
        assert found.header["examples"] == []
        assert found.blocks["weights"].tolist() == [65535]
        np.testing.assert_array_equal(found.charges(0), 1)
        assert found.header["maps"][0]["title"] == ["alone"]
        np.testing.assert_array_equal(found.points(0), [[1, 0]])

    def test_wide_maps_keep_single_precision(self):
        atlas = several()
        atlas.maps[1, atlas.proportions[1].argsort()[-2:], 0] = -400, 400
        found = read(atlas)
        assert found.blocks["positions"].dtype == np.float32
        for m in range(atlas.n_maps):
            objects = found.of("objects", m)
            np.testing.assert_array_equal(found.coordinates(m), atlas.maps[m, objects])
        wide = replace(atlas, model=replace(atlas.model, kernel_width=3.0))
        assert read(wide).blocks["positions"].dtype == np.uint16

    def test_an_object_with_traces_alone_keeps_its_largest(self):
        atlas = several(n_maps=3)
        atlas.proportions[:, 7] = 2e-6, 5e-6, 1e-6
        atlas.proportions[:, 8] = 0
        found = read(atlas)
        assert 8 not in found.blocks["objects"]
        homes = [m for m in range(3) if 7 in found.of("objects", m)]
        assert homes == [1]
        charge = found.charges(1)[found.of("objects", 1) == 7]
        assert charge == pytest.approx(5e-6, rel=1e-3)

    def test_an_empty_map(self):
        atlas = several()
        atlas.proportions[:] = 0
        atlas.proportions[0] = 1
        found = read(atlas)
        assert found.header["maps"][2]["title"] == []
        assert found.header["maps"][2]["view"] == [0, 0, 1, 1]
        assert len(found.of("objects", 2)) == 0


class TestMaps:
    def test_the_most_important_come_first(self):
        atlas = several()
        found, weights = read(atlas), standing(atlas)
        for m in range(atlas.n_maps):
            ordered = found.of("objects", m)[found.of("order", m)]
            assert sorted(ordered) == sorted(found.of("objects", m))
            expected = sorted(
                found.of("objects", m), key=lambda i: (-weights[m, i], -atlas.map_weights[m, i], i)
            )
            np.testing.assert_array_equal(ordered, expected)

    def test_categories_name_the_maps_of_objects_that_are_only_numbered(self):
        atlas = several(80)
        digits = atlas.proportions.argmax(axis=0) + 5
        numbered = replace(atlas, labels=list(map(str, range(80))), metadata={"digit": digits})
        titles = [map_["title"] for map_ in read(numbered).header["maps"]]
        assert titles == [[f"digit {m + 5}"] for m in range(4)]
        names = np.array(["ox", "cow", "hen", "cat"])[digits - 5]
        both = numbered.add_metadata(names, name="animal")
        assert [map_["title"] for map_ in read(both).header["maps"]] == titles
        colored = read(both, color="animal").header["maps"]
        assert [map_["title"] for map_ in colored] == [["ox"], ["cow"], ["hen"], ["cat"]]

    def test_views_hold_what_is_in_sight(self):
        atlas = several()
        atlas.maps[0, 3], atlas.proportions[0, 3] = [300, 300], 0.01
        found = read(atlas)
        for m in range(atlas.n_maps):
            shown = atlas.map_weights[m] >= 0.1
            points, shares = atlas.maps[m, shown].astype(float), atlas.map_weights[m, shown]
            box = view_of(points, shares, budget=0.0)
            np.testing.assert_allclose(found.header["maps"][m]["view"], [*box.low, *box.high])
        assert found.header["maps"][0]["view"][2] < 100

    @pytest.mark.parametrize("d", [1, 3])
    def test_points_are_those_of_the_principal_plane(self, d):
        atlas = several(d=d)
        found = read(atlas)
        assert ("axes" in found.blocks) == ("middles" in found.blocks) == (d > 2)
        for m in range(atlas.n_maps):
            objects = found.of("objects", m)
            points, share = principal_plane(atlas.maps[m, objects], found.of("weights", m) / 65535)
            np.testing.assert_allclose(found.points(m), points, atol=0.01)
            assert found.header["maps"][m]["share"] == pytest.approx(share)

    def test_regions_hold_entries_of_their_map(self):
        atlas, start = several(n=400), 0
        heaps = atlas.maps + 60.0 * (np.arange(400) % 3)[:, None]
        found = read(replace(atlas, maps=heaps))
        for m, map_ in enumerate(found.header["maps"]):
            islands = [each["words"] for each in map_["regions"] if each["island"] is None]
            assert map_["title"] == [", ".join(words) for words in islands]
            for number, region in enumerate(map_["regions"]):
                parts = [part for part in map_["regions"] if part["island"] == number]
                if parts:
                    assert region["size"] == 0
                    assert {part["hue"] for part in parts} == {region["hue"]}
                    continue
                members = found.blocks["region/members"][start : start + region["size"]]
                start += region["size"]
                points = found.points(m)[members]
                assert (points.min(axis=0) - 0.01 <= [region["x"], region["y"]]).all()
                assert ([region["x"], region["y"]] <= points.max(axis=0) + 0.01).all()
        assert start == len(found.blocks["region/members"]) > 0


class TestHeader:
    def test_what_it_says(self):
        atlas = several(metadata={"group": np.array(["a", "b", "b"] * 20)})
        told = {"description": "d", "source": "s", "credit": "c", "date": "2020"}
        options = {**told, "title": "A <title>", "color": "group"}
        header = read(atlas, **options, min_weight=0.25, noun=("mouse", "mice")).header
        assert header["minWeight"] == 0.25
        assert {**told, "noun": ["mouse", "mice"]}.items() <= header.items()
        assert {name: header[name] for name in options} == options
        assert (header["nObjects"], header["nMaps"], header["nComponents"]) == (60, 4, 2)
        assert header["labels"] == list(atlas.labels)
        assert header["model"] == {"kernel": "cauchy", "kernelWidth": 1.0}
        assert header["kinds"] is header["size"] is None
        assert sorted(header["mapOrder"]) == [0, 1, 2, 3]
        assert read(atlas).header["title"] == "60 objects in 4 maps"
        titled = read(atlas, map_titles={1: "Music"}).header["maps"]
        assert [map_["title"] == ["Music"] for map_ in titled] == [False, True, False, False]
        packed = [pack_page(atlas, PageOptions(**options)) for _ in range(2)]
        assert packed[0] == packed[1]

    def test_any_label(self):
        odd = [
            "", "\n", "</script>", "<!--", '"\\', "\u2028", "a" * 1000, "e\u0301", "\x00",
            "a\ud800",
        ]  # fmt: skip
        found = read(single(odd)).header["labels"]
        assert found == [*odd[:-1], "a\ufffd"]


class TestTwoKinds:
    @pytest.fixture
    def atlas(self, made) -> Atlas:
        return mm.load_atlas(made / "code.atlas")

    def test_kinds_and_columns_of_both(self, atlas):
        found = read(atlas, color="kind", size="year")
        rows = list(atlas.kinds).count("document")
        assert found.header["kinds"] == ["document", "word"]
        assert found.header["nRows"] == rows
        assert found.header["kindCounts"] == [rows, atlas.n_objects - rows]
        expected = atlas.proportions[0, found.of("objects", 0)]
        np.testing.assert_allclose(found.charges(0), expected, rtol=1e-4)
        titles = ", ".join(found.header["maps"][0]["title"])
        named = {atlas.kinds[atlas.labels.index(word)] for word in titles.split(", ")}
        assert named == {"word"}
        assert found.column("kind")[1] == list(atlas.kinds)
        assert [c["name"] for c in found.header["columns"]] == list(atlas.columns)
        assert found.column("year")[1][-1] is None

    def test_neither_kind_is_hidden_and_there_are_no_features(self, atlas):
        for options in (
            {"hide": atlas.labels[list(atlas.kinds).count("document") :]},
            {"features": [feature(members=["tie"])]},
        ):
            with pytest.raises(ParameterError):
                read(atlas, **options)


PICTURE = "data:image/png;base64,iVBORw0KGgo="
COLUMNS = [
    ("category", np.array(["b", "a", "b", ""]), ["b", "a", "b", None]),
    ("category", np.array([True, False, False]), ["True", "False", "False"]),
    ("category", np.array([b"a", b"\xc3\xa9"]), ["a", "é"]),
    ("category", np.array(["2020-02-01", "NaT"], "M8[ns]"), ["2020-02-01", None]),
    ("category", np.array(["2020-02-01T10:30"], "M8[ns]"), ["2020-02-01T10:30:00"]),
    ("category", np.array([1, "a", pd.NA, True, np.nan], object), ["1", "a", None, "True", None]),
    ("number", np.array([3, 1, 2], np.uint8), [3, 1, 2]),
    ("number", np.array([0.5, np.nan, np.inf]), [0.5, None, None]),
    ("number", np.array([2, None, 2.5], object), [2, None, 2.5]),
    ("number", np.array([np.nan, np.nan]), [None, None]),
    ("number", np.array([7.0, 7.0]), [7, 7]),
    ("number", np.array([1e300, -1e300, 0.0]), [LARGEST, -LARGEST, 0]),
    ("number", np.array([20240131, 20240229, 1]), [20240131, 20240229, 1]),
    ("image", np.array([PICTURE, ""], object), [PICTURE, ""]),
    ("category", np.array([PICTURE, "data:text/html,x"]), [PICTURE, "data:text/html,x"]),
]


class TestColumns:
    def column(self, values: Any) -> tuple[dict[str, Any], list[Any]]:
        labels = [f"w{i}" for i in range(len(values))]
        return read(single(labels, metadata={"c": values})).column("c")

    @pytest.mark.parametrize(("kind", "values", "expected"), COLUMNS)
    def test_values(self, kind, values, expected):
        column, found = self.column(values)
        assert column["type"] == kind
        assert found == expected
        assert kind != "number" or column["low"] < column["high"]

    def test_categories_by_frequency_and_scales_without_extremes(self):
        column, _ = self.column(np.array(["z", "b", "a", "z", "", "", ""]))
        assert column["categories"] == ["z", "a", "b"]
        assert self.column(np.array([*np.linspace(0, 1, 500), 1e6]))[0]["high"] < 1

    def test_few_integers_that_recur_are_categories_unless_they_are_sizes(self):
        digits = np.where(np.arange(60) % 13, np.arange(60) % 10.0, np.nan)
        atlas = several(60, metadata={"digit": digits, "half": digits / 2})
        described, codes = read(atlas).column("digit")
        assert (described["type"], described["categories"]) == ("category", list("0123456789"))
        assert [not text for text in codes] == np.isnan(digits).tolist()
        assert read(atlas).column("half")[0]["type"] == "number"
        assert read(atlas, size="digit").column("digit")[0]["type"] == "number"
        assert self.column(np.arange(200) % 21)[0]["type"] == "number"

    def test_values_that_rarely_recur_are_text(self):
        for period, n, kind in (
            (100, 100, "category"), (101, 101, "text"), (50, 101, "category"),
            (1000, 2500, "category"), (1001, 2500, "text"),
        ):  # fmt: skip
            assert self.column(np.array([f"v{i % period}" for i in range(n)]))[0]["type"] == kind


def test_members_of_features_by_number():
    features = [feature(0.5, ("c", "b", "c")), feature(np.float32(0.25), ())]
    found = read(single(["a", "B", "c"]), features=features)
    weights = {"feature 1": 0.5, "feature 2": 0.25}
    expected = [{"name": name, "weight": weight} for name, weight in weights.items()]
    assert found.header["features"] == expected
    assert found.blocks["feature/0"].tolist() == [1, 2]
    assert found.blocks["feature/1"].tolist() == []


class TestVectors:
    @pytest.fixture
    def fitted(self) -> tuple[Atlas, FittedVectors]:
        atlas = several(20, 2)
        x, y = atlas.maps[1].T
        table = {"site": atlas.labels, "one": [1.0] * 20, "up": y, "right": x + y, "half": y > 0}
        return atlas, mm.fit_vectors(atlas, table, map=1, n_permutations=9)

    def test_arrows_and_centroids_of_a_map(self, fitted):
        atlas, found = fitted
        first, second = read(atlas, vectors=found).header["maps"]
        assert first["vectors"] == []
        marks = second["vectors"]
        assert [mark["name"] for mark in marks] == ["up", "right", "half: False", "half: True"]
        assert [mark["from"] for mark in marks] == [found.origin.tolist()] * 2 + [None] * 2
        low, high = np.split(np.array(second["view"]), 2)
        places = [[mark["x"], mark["y"]] for mark in marks]
        tips, levels = found.ends(low, high)[1], found.centroids[["x", "y"]].to_numpy()
        np.testing.assert_allclose(places, [*tips[1:], *levels])

    def test_refusals(self, fitted):
        atlas, found = fitted
        line = replace(found, origin=found.origin[:1])
        for vectors in (replace(found, map=2), [found, found], line):
            with pytest.raises(ParameterError):
                read(atlas, vectors=vectors)


REFUSALS = [
    ({"color": "x"}, "color"), ({"color": "name"}, "color"), ({"size": "group"}, "size"),
    ({"min_weight": -0.1}, "min_weight"), ({"min_weight": np.nan}, "min_weight"),
    ({"features": mm.AdditiveClustering(2)}, None), ({"features": 3}, None),
    ({"features": ["ab"]}, None), ({"features": [feature("x")]}, None),
    ({"features": [feature(np.nan)]}, None),
    ({"features": [feature(members=["knto"])]}, UnknownLabelError),
    ({"examples": ["knto"]}, UnknownLabelError),
    *(({"noun": noun}, "noun") for noun in ("", " ", ("mouse",), ("mouse", ""), (1, 2))),
    *(({"map_titles": {number: "Music"}}, "map_titles") for number in (4, -1, "1")),
    ({"hide": [f"w{i}" for i in range(200)]}, "hide"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "name"), REFUSALS)
def test_refusals(options, name):
    columns = {
        "group": np.array(["a", "b"] * 100), "year": np.arange(200),
        "name": np.array([f"n{i}" for i in range(200)]),
    }  # fmt: skip
    error = name if isinstance(name, type) else ParameterError
    with pytest.raises(error) as caught:
        read(single([f"w{i}" for i in range(200)], metadata=columns), **options)
    if error is ParameterError:
        assert caught.value.name == name


class TestHidden:
    """Objects that must not be shown are in no part of the page."""

    @pytest.fixture
    def known(self):
        rng = np.random.default_rng(4)
        table = sparse.random_array((60, 60), density=0.3, rng=rng, format="csr")
        notes = np.array([f"about word {i}" for i in range(60)])
        associations = stored_associations(table)
        return several(associations=associations, metadata={"note": notes})

    def test_no_trace_of_them(self, known):
        options = PageOptions(hide=["WORD 7", "word 20", "not there"])
        text = gzip.decompress(pack_page(known, options)).decode("utf-8", "replace")
        assert 'word 7"' not in text
        assert "word 20" not in text
        assert "word 21" in text

    def test_the_others_keep_their_entries_partners_and_senses(self, known):
        factors = np.linspace(0.5, 2, 60)
        known = replace(known, factors=factors)
        usual, fewer = read(known), read(known, hide=["word 7"])
        number = np.delete(np.arange(60), 7)
        assert fewer.header["labels"] == [f"word {i}" for i in number]
        assert fewer.header["nObjects"] == 59
        for m in range(4):
            objects, whole = number[fewer.of("objects", m)], usual.of("objects", m)
            assert objects.tolist() == whole[whole != 7].tolist()
            expected = factors[objects] * known.proportions[m, objects]
            np.testing.assert_allclose(fewer.charges(m), expected, rtol=1e-3)
        assert 7 not in number[fewer.blocks["data/partners"]]
        counts = np.diff(fewer.blocks["sense/offsets"])
        assert len(counts) == 59
        assert counts.sum() == len(fewer.blocks["sense/maps"])
