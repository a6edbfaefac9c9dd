"""The score of an engine against loops that read what it answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from support.engines import engine_over, random_triples

from pathformer.engine.engine import Engine
from pathformer.errors import BenchmarkError, EngineError, InputError
from pathformer.evaluation.engine_report import ENGINE, EngineReport
from pathformer.evaluation.evaluate_engine import score_facts, score_queries
from pathformer.evaluation.predictions import Judged
from pathformer.evaluation.probabilities import Group
from pathformer.evaluation.questions import ask_facts, ask_folder
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.links.calibration import LinkCalibration
from pathformer.links.evidence.counts import Counts
from pathformer.links.evidence.linear import Linear
from pathformer.links.mixing import Mixing
from pathformer.links.rates import Rates
from pathformer.links.scorer import LinkScorer
from pathformer.models._base import build
from pathformer.query.structures import STRUCTURES
from pathformer.querysets.query_sets import QuerySets, graph_pair, read_folder
from pathformer.querysets.sampler import Rules, sample
from pathformer.search.optimise import score as best_assignments

Fact = tuple[str, str, str]
ASKED = ("1p", "2p", "2u", "2in")


@pytest.fixture(scope="module")
def whole() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(random_triples(entities=25, relations=3, drawn=250), name="whole").split(
        0.1, 0.1
    )


@pytest.fixture(scope="module")
def engine(whole: KnowledgeGraph) -> Engine:
    """Knows the train part, whose names have other ids than in `whole`."""
    kg = KnowledgeGraph.from_triples(reversed(facts_of(whole, "train")), name="part")
    names, graph = kg.vocabulary, kg.graph()
    torch.manual_seed(0)
    model = build(
        "pathformer",
        {"dim": 8, "layers": 1, "heads": 2},
        entities=names.entity_count,
        relations=names.relation_count,
    )
    calibration = replace(LinkCalibration.none(), rates=Rates(np.array([0.4, 0.2]), {}))
    scorer = LinkScorer(graph, [Counts(graph), Linear.of(graph)], Mixing.even(["counts", "linear"]), calibration)
    return engine_over(kg, model, links=scorer)


def facts_of(kg: KnowledgeGraph, part: str) -> list[Fact]:
    names = kg.vocabulary
    return [(names.entity(h), names.relation(r), names.entity(t)) for h, r, t in kg.splits[part].tolist()]


def score(engine: Engine, facts: list[Fact]) -> EngineReport:
    return score_facts(engine, ask_facts(engine.kg, KnowledgeGraph.from_triples(facts, name="facts")))


def questions(engine: Engine, facts: list[Fact]) -> dict[tuple[int, int], set[int]]:
    """The tails that are asked for, by head and directed relation."""
    names, asked = engine.kg.vocabulary, {}
    for h, r, t in facts:
        head, relation, tail = names.entity_id(h), names.relation_id(r), names.entity_id(t)
        asked.setdefault((head, relation), set()).add(tail)
        asked.setdefault((tail, relation ^ 1), set()).add(head)
    return asked


def place(row: np.ndarray, tail: int, left_out: set[int]) -> list[int]:
    """The ranks that a tail may have: among ties each one."""
    others = [value for entity, value in enumerate(row.tolist()) if entity not in left_out | {tail}]
    better, equal = sum(value > row[tail] for value in others), sum(value == row[tail] for value in others)
    return list(range(better + 1, better + equal + 2))


def test_ranks_of_links_are_those_of_a_loop(engine: Engine, whole: KnowledgeGraph) -> None:
    facts, graph = facts_of(whole, "test"), engine.kg.graph()
    assert engine.links is not None
    counts, linear = engine.links.sources
    found: dict[str, list[list[int]]] = {ENGINE: [], "counting": [], "linear recommender": [], "asked for the head": []}
    for (head, relation), tails in questions(engine, facts).items():
        known = set(graph.tails_of(head, relation).tolist())
        rows = {
            ENGINE: engine.links.shares(np.array([head]), relation)[0],
            "counting": counts.rows(np.array([head]), relation)[0],
            "linear recommender": linear.rows(np.array([head]), relation)[0],
        }
        for who, row in rows.items():
            found[who] += [place(row, tail, known | tails) for tail in tails]
        found["asked for the head"] += found[ENGINE][-len(tails) :] if relation % 2 else []
    report = score(engine, facts).ranks["links"]
    assert report[ENGINE].answers == 2 * len(facts)
    for who, ranks in found.items():
        assert report[who].mrr == pytest.approx(np.mean([np.mean([1 / r for r in one]) for one in ranks]), abs=1e-6)
        for k in (1, 3, 10):
            right = np.mean([np.mean([r <= k for r in one]) for one in ranks])
            assert report[who].hits[k] == pytest.approx(right, abs=1e-6)


def test_probabilities_are_those_that_a_user_gets(engine: Engine, whole: KnowledgeGraph) -> None:
    names = engine.kg.vocabulary
    facts = facts_of(whole, "test") + facts_of(whole, "valid")
    given: list[tuple[float, bool, int]] = []
    for (head, relation), tails in questions(engine, facts).items():
        predicted = engine.ask(STRUCTURES["1p"].instance([head, relation]), top=10, why=False).predicted
        for rank, answer in enumerate(predicted):
            given.append((answer.probability, names.entity_id(answer.entity) in tails, rank))
    held = score(engine, facts).probabilities["all"]
    assert held.best.reliability.predictions == len(given)
    assert held.best.reliability.brier == pytest.approx(np.mean([(p - y) ** 2 for p, y, _ in given]))
    ordered, gaps = sorted(given, key=lambda one: one[0]), []  # sorting is stable, as there
    for part in np.array_split(np.arange(len(ordered)), 10):
        p, y = zip(*((ordered[i][0], ordered[i][1]) for i in part), strict=True)
        gaps.append(len(part) * abs(np.mean(p) - np.mean(y)))
    assert held.best.reliability.ece == pytest.approx(sum(gaps) / len(given))
    first = [(p, y) for p, y, rank in given if rank == 0]
    assert held.first.said == pytest.approx(np.mean([p for p, _ in first]))
    assert held.first.right == pytest.approx(np.mean([y for _, y in first]))
    assert held.first.table_brier == pytest.approx(np.mean([(0.4 - y) ** 2 for _, y in first]))
    surest = sorted(first, key=lambda one: one[0])[-(len(first) // 10) :]
    assert held.first.surest.observed == pytest.approx(np.mean([y for _, y in surest]))


def test_what_the_engine_cannot_be_asked_is_counted(engine: Engine, whole: KnowledgeGraph) -> None:
    known, new = facts_of(whole, "train")[:3], facts_of(whole, "test")
    report = score(engine, [*known, *new, ("nobody", "r0", "e1")])
    assert report.ranks["links"][ENGINE].answers == 2 * len(new)
    (told,) = report.notes
    assert "3 which it knows" in told
    assert "1 with a name" in told


def test_other_parts_count_as_known(engine: Engine, whole: KnowledgeGraph) -> None:
    asked = ask_facts(engine.kg, whole)
    true = questions(engine, facts_of(whole, "valid") + facts_of(whole, "train"))
    for row, (head, relation) in enumerate(asked.queries["1p"].ids.tolist()):
        assert set(asked.queries["1p"].easy[row].tolist()) == true.get((head, relation), set())
    report = score_facts(engine, asked)
    assert report.ranks["links"][ENGINE].answers == 2 * len(whole.splits["test"])
    assert "of other parts" in report.notes[0]


@pytest.fixture(scope="module")
def folder(whole: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    graphs = graph_pair(whole, "test")
    drawn = {name: sample(STRUCTURES[name], graphs, 20, stream="test", rules=Rules(limit=None)) for name in ASKED}
    sets = QuerySets(splits={"test": drawn}, graph=whole.name, fingerprint=whole.fingerprint())
    return sets.save(tmp_path_factory.mktemp("queries") / "drawn")


@pytest.mark.parametrize("search", [True, False], ids=["search", "points"])
def test_ranks_of_structures_are_those_of_a_loop(
    engine: Engine, whole: KnowledgeGraph, folder: Path, search: bool
) -> None:
    engine = Engine.of(replace(engine.parts, finders=replace(engine.finders, search=search)))
    theirs, ours = whole.vocabulary, engine.kg.vocabulary
    stored = read_folder(folder, ("test",))
    questions = ask_folder(engine.kg, stored, "test", whole)
    report, table = score_queries(engine, questions), engine.finders.table(questions.known)
    assert (table is not None) == search
    for name in ("2p", "2u", "2in"):
        part, of_query = stored.splits["test"][name], []
        assert part.easy is not None
        assert part.hard is not None
        for row, ids in enumerate(part.ids.tolist()):
            mapped = [
                ours.entity_id(theirs.entity(i)) if kind == "e" else ours.relation_id(theirs.relation(i)) + i % 2
                for kind, i in zip(part.structure.columns, ids, strict=True)
            ]
            easy, hard = ({ours.entity_id(theirs.entity(e)) for e in rows[row]} for rows in (part.easy, part.hard))
            tree = part.structure.tree(mapped)
            if table is None:
                near = -engine.encoder.distances(engine.encoder.points([tree]).rows).min(axis=0)
            else:
                near = best_assignments([tree], table)[0]
            of_query.append(np.mean([np.mean([1 / r for r in place(near, e, easy | hard)]) for e in hard]))
        assert report.ranks[name][ENGINE].mrr == pytest.approx(np.mean(of_query), abs=1e-6)
        assert report.ranks[name][ENGINE].queries == len(part)
    assert set(report.ranks["1p"]) == {ENGINE, "counting", "linear recommender"}


def test_queries_of_another_graph_are_refused(engine: Engine, folder: Path) -> None:
    with pytest.raises(BenchmarkError, match=r"'whole'.*'part'.*--graph"):
        ask_folder(engine.kg, read_folder(folder, ("test",)), "test")


def test_an_engine_that_knows_everything_cannot_be_scored(engine: Engine, whole: KnowledgeGraph, folder: Path) -> None:
    with pytest.raises(InputError, match=r"3 which it knows"):
        score(engine, facts_of(whole, "train")[:3])
    with pytest.raises(InputError, match=r"without an unknown answer"):
        ask_folder(whole, read_folder(folder, ("test",)), "test")


def test_an_engine_without_evidence_is_refused(engine: Engine, whole: KnowledgeGraph, folder: Path) -> None:
    with pytest.raises(EngineError, match=r"learned nothing.*pathformer fit"):
        score(Engine(engine.kg), facts_of(whole, "test"))
    gqe = build("gqe", {"dim": 8}, entities=engine.kg.vocabulary.entity_count, relations=6)
    asked = ask_folder(engine.kg, read_folder(folder, ("test",)), "test", whole)
    report = score_queries(engine_over(engine.kg, gqe), asked)  # a method without negation
    assert set(report.ranks) == {"1p", "2p", "2u"}
    assert "2in" in report.notes[-1]


def test_a_report_says_the_same_in_each_form(engine: Engine, whole: KnowledgeGraph) -> None:
    report = score(engine, facts_of(whole, "test"))
    figures = json.loads(report.json())
    mrr = report.ranks["links"][ENGINE].mrr
    assert figures["ranks"]["links"][ENGINE]["mrr"] == mrr
    assert f"| {100 * mrr:.1f} |" in report.markdown()
    assert figures["probabilities"]["all"]["best"]["ece"] == report.probabilities["all"].best.reliability.ece


def test_the_error_by_chance_is_that_of_true_probabilities() -> None:
    draw, errors = np.random.default_rng(1), []
    p = draw.random(300) ** 2
    nothing = np.zeros(300, np.int64)
    for _ in range(200):
        judged = Judged(p, draw.random(300) < p, nothing, nothing)
        errors.append(Group.of(judged, None).reliability.ece)
    assert Group.of(judged, None).chance == pytest.approx(np.mean(errors), rel=0.1)
