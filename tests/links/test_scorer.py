"""The scorer of single links: shares of all candidates, rows for tables, and the same after a save."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.link_engines import link_scorer, random_graph

from pathformer.errors import EngineError
from pathformer.kg.graph import Graph
from pathformer.links.calibration import Predictions
from pathformer.links.evidence.linear import Linear
from pathformer.links.mixing import features
from pathformer.links.scorer import FILE, LinkScorer

RELATION = 2
HEADS = np.arange(0, 150, 10)


@pytest.fixture(scope="module")
def links() -> LinkScorer:
    return link_scorer()


def test_shares_of_the_candidates_add_up_to_one(links: LinkScorer) -> None:
    every = [np.array([4, 9])] * len(HEADS)
    stated = [links.graph.tails_of(head, RELATION) for head in HEADS.tolist()]
    for rows, barred in ((links.shares(HEADS, RELATION), stated), (links.shares(HEADS, RELATION, every), every)):
        assert np.exp(rows).sum(axis=1) == pytest.approx(1, rel=1e-4)
        for row, none in zip(rows, barred, strict=True):
            assert np.flatnonzero(np.isneginf(row)).tolist() == none.tolist()


def test_the_best_are_the_first_of_the_row_with_probabilities_of_their_ranks(links: LinkScorer) -> None:
    for head in HEADS.tolist():
        known = links.graph.tails_of(head, RELATION)
        row = links.shares(np.array([head]), RELATION)[0]
        order = np.argsort(-row, kind="stable")
        for top in (0, 1, 7, 1000):
            found, count = links.predict(head, RELATION, top), min(top, 150 - len(known))
            assert np.array_equal(found.log_shares, row[order[:count]])
            assert np.array_equal(row[found.tails], found.log_shares)
            assert len(set(found.tails.tolist()) - set(known.tolist())) == count
            given = Predictions.of(RELATION, found.log_shares, len(known))
            np.testing.assert_array_equal(found.probabilities, links.calibration.probabilities(given))


def test_rows_are_the_mean_of_the_share_and_the_recommender(links: LinkScorer) -> None:
    known = [links.graph.tails_of(head, RELATION).astype(np.int64) for head in HEADS.tolist()]
    given = features(links.sources, HEADS, RELATION, known)
    alone = next(source for source in links.sources if isinstance(source, Linear)).rows(HEADS, RELATION)
    without = LinkScorer(links.graph, links.sources[1:], links.mixing.even(["counts"])).rows(HEADS, RELATION)
    for number, (row, own) in enumerate(zip(links.rows(HEADS, RELATION), known, strict=True)):
        share = np.exp(links.mixing.scores(given[number], RELATION))
        likely = np.minimum(0.95, share * (1 + 0.3 * len(own)))
        recommended = np.clip(alone[number] / 2, 0, 0.95)
        assert row == pytest.approx((likely + recommended) / 2, rel=1e-4, abs=1e-7)
        assert without[number].sum() == pytest.approx(1 + 0.3 * len(own), rel=1e-3)  # where there is none


def test_what_is_opened_scores_as_what_was_saved(links: LinkScorer, tmp_path: Path) -> None:
    links.save(tmp_path / "links")
    opened = LinkScorer.open(tmp_path / "links", links.graph)
    np.testing.assert_array_equal(opened.rows(HEADS, RELATION), links.rows(HEADS, RELATION))
    assert opened.pieces(1, RELATION, 5) == links.pieces(1, RELATION, 5)
    for name in ("calibration", "listing"):
        assert getattr(opened, name).to_json() == getattr(links, name).to_json()
    assert opened.calibration.to_json() != opened.listing.to_json()


@pytest.mark.parametrize("damage", ["no file", "no JSON", "no mixing", "no numbers", "other sources"])
def test_a_damaged_folder_is_named(links: LinkScorer, tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "links"
    links.save(folder)
    file = folder / FILE
    if damage == "no file":
        file.unlink()
    elif damage == "no JSON":
        file.write_text(file.read_text()[:100])
    elif damage == "no mixing":
        file.write_text("{}")
    elif damage == "no numbers":
        file.write_text(json.dumps({**json.loads(file.read_text()), "calibration": 5}))
    else:
        (folder / "linear" / "ridge.npy").unlink()
    with pytest.raises(EngineError, match=r"links.* fit it again"):
        LinkScorer.open(folder, links.graph)


def test_on_another_graph_only_the_graph_and_the_sources_are_others(links: LinkScorer) -> None:
    larger = np.concatenate([links.graph.triples(), [[3, RELATION, 8], [5, RELATION, 8]]])
    graph = Graph.from_triples(larger, links.graph.entities, links.graph.relations)
    moved = links.on(graph)
    assert moved.graph is graph
    assert (moved.mixing, moved.calibration, moved.listing) == (links.mixing, links.calibration, links.listing)
    assert np.isneginf(moved.shares(np.array([3]), RELATION)[0, 8])
    fresh = [source.on(graph).rows(HEADS, RELATION) for source in links.sources]
    for source, rows in zip(moved.sources, fresh, strict=True):
        np.testing.assert_array_equal(source.rows(HEADS, RELATION), rows)
    assert not np.array_equal(moved.rows(HEADS, RELATION), links.rows(HEADS, RELATION))


def test_pieces_are_said_by_the_source_that_names_them(links: LinkScorer) -> None:
    names, absent = random_graph().vocabulary, ((1, RELATION, tail) for tail in range(150))
    link = next(one for one in absent if not links.graph.has(*one) and links.pieces(*one))
    for piece in links.pieces(*link):
        source = next(one for one in links.sources if one.name == piece.source)
        assert links.say(piece, link, names) == source.say(piece, link, names)
