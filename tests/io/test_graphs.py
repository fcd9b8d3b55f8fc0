"""Graphs as pairs: GraphML and networkx."""

import networkx as nx
import pytest

from manymaps import DataError, associations_from, read_associations
from trial_samples import pairs_of

DIRECTED = [("tie", "knot", 3.0), ("tie", "suit", 1.0), ("knot", "tie", 2.0), ("suit", "tie", 4.0)]
REPEATED = [*DIRECTED, ("tie", "knot", 2.0), ("tie", "knot", 1.0)]
UNDIRECTED = [("a", "b", 3.0), ("b", "c", 0.5), ("c", "c", 9.0)]


def document(body: str, edgedefault: str = "directed", keys: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}\n'
        f'<graph edgedefault="{edgedefault}">{body}</graph></graphml>'
    )


@pytest.mark.parametrize(
    ("kind", "edges", "n_read"),
    [(nx.DiGraph, DIRECTED, 4), (nx.MultiDiGraph, REPEATED, 6), (nx.Graph, UNDIRECTED, 5)],
)
def test_a_file_of_networkx_is_the_graph_in_memory(tmp_path, kind, edges, n_read):
    graph = kind()
    graph.add_weighted_edges_from(edges)
    graph.add_node("alone")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    for rules in ({}, {"rows": "keep"}, {"responses": "keep"}):
        one, other = (
            read_associations(tmp_path / "a.graphml", **rules),
            associations_from(graph, **rules),
        )
        assert one.labels == other.labels
        assert pairs_of(one) == pairs_of(other)
        assert one.report.n_read == other.report.n_read == n_read


def test_undirected_edges_are_pairs_both_ways_and_parallel_ones_are_added():
    graph = nx.Graph()
    graph.add_weighted_edges_from(UNDIRECTED)
    graph.add_node("alone")
    found = associations_from(graph, rows="keep")
    assert found.labels == ("a", "b", "c", "alone")
    assert found.is_symmetric
    assert found.report.dropped == {"self pair": 1}
    graph = nx.MultiDiGraph()
    graph.add_weighted_edges_from(REPEATED)
    found = associations_from(graph, rows="keep")
    assert (found.report.merged, found.n_pairs) == (2, 4)
    assert pairs_of(found)["tie", "knot"] == 6 / 7


def test_nodes_are_labelled_as_they_are_written():
    """A column of the numbers 1 and 2.5 would contain 1.0."""
    found = associations_from(nx.Graph([(1, 2.5)]), rows="keep")
    assert pairs_of(found) == {("1", "2.5"): 1, ("2.5", "1"): 1}


def test_the_weight_is_a_usual_attribute_or_the_one_that_is_named(tmp_path):
    graph = nx.DiGraph()
    graph.add_edge("a", "b", FSG=0.2, trials=4)
    graph.add_edge("a", "c", FSG=0.6, trials=1)
    rules = {"responses": "keep", "rows": "keep"}
    assert pairs_of(associations_from(graph, **rules))["a", "c"] == 0.6
    assert pairs_of(associations_from(graph, strength="trials", **rules))["a", "b"] == 0.8
    for wrong in ({"strength": "x"}, {"cue": "source"}):
        with pytest.raises(DataError):
            associations_from(graph, **wrong)


def test_defaults_and_names_of_nodes(write):
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
    found = read_associations(write("a.graphml", document(body, keys=keys)), rows="keep")
    assert pairs_of(found) == {("bow & tie", "knot"): 1, ("knot", "bow & tie"): 1}
    twice = document(body.replace("knot", "bow &amp; tie"), "undirected", keys)
    found = read_associations(write("a.graphml", twice), rows="keep")
    assert pairs_of(found) == {("n0", "n1"): 7, ("n1", "n0"): 7}


NODES = '<node id="a"/>\n<node id="b"/>\n'
WEIGHT = '<key id="w" for="edge" attr.name="weight"/>'
WEIGHED = '<edge source="a" target="b"><data key="w">{}</data></edge>'
LAUGHS = (
    '<!DOCTYPE graphml [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n'
    "<graphml><graph><node id='&b;'/></graph></graphml>"
)


def test_broken_graphs_are_refused(write):
    for text in (
        LAUGHS,
        document(NODES),
        document(NODES + "<hyperedge/>"),
        document(NODES)[:-20],
        '<?xml version="1.0"?><gexf/>',
        document(NODES + WEIGHED.format("-1"), keys=WEIGHT),
        document(NODES + WEIGHED.format("x"), keys=WEIGHT),
    ):
        with pytest.raises(DataError):
            read_associations(write("a.graphml", text))
