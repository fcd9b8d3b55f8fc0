"""Graphs as pairs: GraphML and networkx."""

from pathlib import Path

import networkx as nx
import pytest

from manymaps import DataError, associations_from, read_associations

DIRECTED = [("tie", "knot", 3.0), ("tie", "suit", 1.0), ("knot", "tie", 2.0), ("suit", "tie", 4.0)]


def strengths(norms) -> dict[tuple[str, str], float]:
    cells = norms.strengths.tocoo()
    ends = zip(cells.row.tolist(), cells.col.tolist(), cells.data.tolist(), strict=True)
    return {(norms.labels[i], norms.labels[j]): value for i, j, value in ends}


def directed() -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(DIRECTED)
    return graph


def document(body: str, edgedefault: str = "directed", keys: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}\n'
        f'<graph edgedefault="{edgedefault}">{body}</graph></graphml>'
    )


def written(folder: Path, text: str, name: str = "a.graphml") -> Path:
    (folder / name).write_text(text, "utf-8")
    return folder / name


def test_a_file_of_networkx_is_the_graph_in_memory(tmp_path: Path) -> None:
    graph, path = directed(), tmp_path / "a.graphml"
    nx.write_graphml(graph, path)
    for rules in ({}, {"rows": "keep"}, {"responses": "keep"}):
        one, other = read_associations(path, **rules), associations_from(graph, **rules)
        assert one.labels == other.labels
        assert strengths(one) == strengths(other)
        assert one.report.n_read == other.report.n_read == 4


def test_undirected_edges_are_pairs_both_ways(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 3.0), ("b", "c", 0.5), ("c", "c", 9.0)])
    graph.add_node("alone")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    found = read_associations(tmp_path / "a.graphml", rows="keep")
    assert found.labels == ("a", "b", "c", "alone")
    assert found.is_symmetric
    assert strengths(found) == strengths(associations_from(graph, rows="keep"))
    assert found.report.dropped == {"self pair": 1}


def test_parallel_edges_are_merged_and_counted(tmp_path: Path) -> None:
    graph = nx.MultiDiGraph()
    graph.add_weighted_edges_from([*DIRECTED, ("tie", "knot", 2.0), ("tie", "knot", 1.0)])
    nx.write_graphml(graph, tmp_path / "a.graphml")
    for found in (
        read_associations(tmp_path / "a.graphml", rows="keep"),
        associations_from(graph, rows="keep"),
    ):
        assert (found.report.n_read, found.report.merged, found.n_pairs) == (6, 2, 4)
        assert strengths(found)["tie", "knot"] == 6 / 7


def test_the_weight_is_a_usual_attribute_or_the_one_that_is_named(tmp_path: Path) -> None:
    graph = nx.DiGraph()
    graph.add_edge("a", "b", FSG=0.2, trials=4)
    graph.add_edge("a", "c", FSG=0.6, trials=1)
    nx.write_graphml(graph, tmp_path / "a.graphml")
    path, rules = tmp_path / "a.graphml", {"responses": "keep", "rows": "keep"}
    assert strengths(read_associations(path, **rules))["a", "c"] == 0.6
    assert strengths(read_associations(path, strength="trials", **rules))["a", "b"] == 0.8
    for wrong in ({"strength": "x"}, {"cue": "source"}):
        with pytest.raises(DataError):
            read_associations(path, **wrong)


def test_defaults_and_names_of_nodes(tmp_path: Path) -> None:
    keys = (
        '<key id="w" for="edge" attr.name="weight"><default>5</default></key>'
        '<key id="l" for="node" attr.name="Label"/>'
    )
    body = (
        '<node id="n0"><data key="l">bow &amp; tie</data></node>'
        '<node id="n1"><data key="l">knot</data></node>'
        '<edge source="n0" target="n1"/>'
        '<edge source="n1" target="n0"><data key="w">2</data></edge>'
    )
    found = read_associations(written(tmp_path, document(body, keys=keys)), rows="keep")
    assert strengths(found) == {("bow & tie", "knot"): 1, ("knot", "bow & tie"): 1}
    twice = document(body.replace("knot", "bow &amp; tie"), "undirected", keys)
    found = read_associations(written(tmp_path, twice), rows="keep")
    assert strengths(found) == {("n0", "n1"): 7, ("n1", "n0"): 7}


NODES = '<node id="a"/>\n<node id="b"/>\n'
WEIGHT = '<key id="w" for="edge" attr.name="weight"/>'
WEIGHED = '<edge source="a" target="b"><data key="w">{}</data></edge>'
LAUGHS = (
    '<!DOCTYPE graphml [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n'
    "<graphml><graph><node id='&b;'/></graph></graphml>"
)


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        LAUGHS.replace('"ha"', 'SYSTEM "file:///etc/passwd"'),
        document(NODES),
        document(NODES + "<hyperedge/>"),
        document(NODES)[:-20],
        '<?xml version="1.0"?><gexf/>',
        "tie,knot\n",
        document(NODES + WEIGHED.format("-1"), keys=WEIGHT),
        document(NODES + WEIGHED.format("x"), keys=WEIGHT),
    ],
)  # fmt: skip
def test_broken_graphs_say_where(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError):
        read_associations(path)
