"""The named levers of `benchmarks/levers.py`: settings on top of a run, and what was expected of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass

UPDATE = "training.update."
PRODUCT = (
    "model.space=hermitian",
    "model.gain=small",
    "model.scale=false",
    "model.fork=sum",
    "model.fork_dropout=0.3",
    "model.variable=expected",
    "model.domains=false",
    "model.read=path",
    "model.tokens=shared",
    "model.adds=everywhere",
    "model.dim=800",
    "model.layers=2",
    "start=complex-{dataset}",
    "start.model.rank=400",
)  # what all levers with a base share, whatever the run has
HOPS = (*PRODUCT, "model.base=expected", "model.sharpness=1.6")
OPERATORS = "model.read=operators"
ROOTS = (*HOPS, "model.alone=1", "model.adds=roots", "model.fork=weighed", "model.combine=smallest")
OWN = ("model.tokens=own", f"{UPDATE}token_rate=2.0")
FROZEN, N3 = f"{UPDATE}table_rate=0.0", f"{UPDATE}softmax.n3=0.05"
MIXED = ("training.share=step", "training.batch=2560", f"{UPDATE}average=batch")  # a structure counts by its share


@dataclass(frozen=True)
class Lever:
    """Settings on top of the run, and what was expected of them before they were measured."""

    settings: tuple[str, ...]
    expected: str = ""
    on: str = "scratch"  # the recipe that it is thought for


LEVERS = {  # what was expected: the words of those who proposed them, before anything was measured
    "recipe": Lever((), "the run as it is"),
    "margin": Lever(
        ("model.space=point", f"{UPDATE}objective=margin", f"{UPDATE}table_rate=1.0", "model.combine=smallest"),
        "the paper's loss in the same time: far behind",
    ),
    "start": Lever(("start=complex-{dataset}",), "2 to 4 points on 1p alone, more on NELL995"),
    "frozen": Lever(("start=complex-{dataset}", f"{UPDATE}table_rate=0.0"), "the same, tables kept as they start"),
    "one-answer": Lever((f"{UPDATE}softmax.targets=1",), "all answers as targets beat one at a time"),
    "l1": Lever(
        ("model.space=point", f"{UPDATE}softmax.entities=drawn", f"{UPDATE}negatives=512"),
        "L1 and cosine to be compared at equal time",
    ),
    "fixed-queries": Lever(("training.fresh=0",), "fresh queries beat a fixed set"),
    "smallest": Lever(("model.combine=smallest",), "2u 9.9 against 14.9: disjuncts are not comparable"),
    "no-average": Lever((f"{UPDATE}ema=0.0",), "weight averaging gains a little"),
    "weighted": Lever((f"{UPDATE}power=-0.5",), "the reference code's weights; not said"),
    "unweighted": Lever((f"{UPDATE}weighted=false",), "not said"),
    "upward": Lever((f"{UPDATE}power=0.5",), "links of hubs, so 2u and up, gain"),
    "membership": Lever(("model.combine=membership",), "disjuncts of many answers are not drowned"),
    "mlp-fork": Lever(("model.fork=mlp",), "an order-free fork gains a little"),
    "relative": Lever(("model.positions=relative",), "relative positions gain a little"),
    "one-layer": Lever(("model.layers=1",), "model size against time"),
    "six-layers": Lever(("model.layers=6",), "model size against time"),
    "half-batch": Lever(("training.batch=256",), "larger batches gain"),
    "double-rate": Lever((f"{UPDATE}rate=1e-3",), "schedule"),
    "cosine-decay": Lever(("training.schedule=cosine",), "schedule"),
    "no-dropout": Lever(("model.dropout=0.0",), "not said"),
    "dropout": Lever(("model.dropout=0.3",), "0.2 with smoothing 0.3 changed nothing"),
    "chain": Lever(
        (*HOPS, "model.alone=9", FROZEN),
        "paths by the link predictor alone, forks learned: 1p, 2u, ip, up as good as they get without training paths",
    ),
    "hops": Lever((*HOPS, "model.alone=1", FROZEN), "2p and 3p better than chain by 2, or learned by heart"),
    "hops-operators": Lever(
        (*HOPS, OPERATORS, "model.alone=1", FROZEN), "what hops gains on 2p and 3p, without learning by heart"
    ),
    "hops-slow": Lever(
        (*HOPS, OPERATORS, "model.alone=1", f"{UPDATE}table_rate=0.1", N3),
        "tables that follow paths and intersections: 1 more on 2p, 2i, 3i",
    ),
    "hops-tuned": Lever(
        (*HOPS, OPERATORS, "model.alone=1", f"{UPDATE}table_rate=2.0", N3, f"{UPDATE}softmax.relation=1.0"),
        "more on 3i than slow tables, less on 1p",
    ),
    "hops-weighed": Lever(
        (*HOPS, OPERATORS, "model.fork=weighed", "model.alone=1", FROZEN),
        "one weight a branch in place of a network: pi better by 3, 3i lower by 1",
    ),
    "hops-read-all": Lever(
        (*HOPS, OPERATORS, FROZEN), "links read by the transformer too: 1p lower, nothing else moves"
    ),
    "hops-heads": Lever(
        (*HOPS, OPERATORS, "model.alone=1", FROZEN, "model.layers=1", "model.dropout=0.3"),
        "a smaller encoder with more dropout: the same or better",
    ),
    "product": Lever(
        (*PRODUCT, "model.base=product", "model.alone=1", FROZEN),
        "2p, 3p, ip, up below hops by 1, at half the time an update",
    ),
    "product-tuned": Lever(
        (*PRODUCT, "model.base=product", OPERATORS, "model.alone=1", f"{UPDATE}table_rate=2.0", N3),
        "the same with tables that move",
    ),
    "roots": Lever((*ROOTS, FROZEN), "pi as good as chain's, 2p, 3p and up as hops has them: 24.5"),
    "roots-own": Lever(
        (*ROOTS, FROZEN, *OWN),
        "rows of its own to read: 2p and 3p as the run from nothing has them, 0.3 more",
    ),
    "roots-both": Lever(
        (*ROOTS, FROZEN, *OWN, "model.fork=both", "model.fork_dropout=0.3"),
        "a network beside the weights at forks: 3i 1 more",
    ),
    "roots-wide": Lever(
        (*ROOTS, FROZEN, "model.dim=2000", "model.layers=1", "start.model.rank=1000"),
        "a link predictor of rank 1,000: 1p 0.8 more, all others a little",
    ),
    "roots-wide-own": Lever(
        (*ROOTS, FROZEN, *OWN, "model.dim=2000", "model.width=800", "start.model.rank=1000"),
        "likewise with tables and a width of the encoder's own: 2p 0.8, 3p 0.4 more",
    ),
    "roots-wider": Lever(
        (*ROOTS, FROZEN, *OWN, "model.dim=4000", "model.width=800", "start.model.rank=2000"),
        "rank 2,000: half as much again",
    ),
    "roots-wide-both": Lever(
        (
            *ROOTS,
            FROZEN,
            *OWN,
            "model.dim=2000",
            "model.width=800",
            "start.model.rank=1000",
            "model.fork=both",
            "model.fork_dropout=0.3",
        ),
        "both of it",
    ),
    "roots-slow": Lever(
        (*ROOTS, *OWN, f"{UPDATE}table_rate=0.02", N3),
        "tables that move a little: not said",
    ),
    "hops-hubs": Lever(
        (
            *HOPS,
            OPERATORS,
            "model.alone=1",
            FROZEN,
            "start.training.update.weighted=true",
            "start.training.update.power=0.5",
        ),
        "a link predictor that counts hubs more: 2u and up gain, 1p loses a little",
    ),
    "no-domains": Lever(
        ("model.domains=false",),
        "what stands between two links need not have the second: NELL995 2p 1, 3p 2 less, FB15k-237 next to nothing",
        on="fast",
    ),
    "domains-slow": Lever((f"{UPDATE}token_rate=0.2",), "domains at a lower rate: less of the same", on="fast"),
    "domains-fast": Lever((f"{UPDATE}token_rate=16.0",), "domains at a higher rate: learned by heart", on="fast"),
    "forward": Lever(
        ("training.backward=false",), "paths walked from the anchor: NELL995 2p 0.5, 3p 0.8 less", on="fast"
    ),
    "fast-both": Lever(
        ("model.fork=both", "model.fork_dropout=0.3"), "a network at forks, on NELL995: 2i 1.4, 3i 1.0 more", on="fast"
    ),
    "fast-both-dropout": Lever(
        ("model.fork=both", "model.fork_dropout=0.5"),
        "the network at forks with more dropout: on NELL995 2i does not fall after two minutes",
        on="fast",
    ),
    "relations": Lever(
        ("start=complex-{dataset}", "start.model.relation=1.0"),
        "a link predictor that predicts relations, too: 2p loses, as on CoDEx-S",
        on="fast",
    ),
    "no-relations": Lever(
        ("start=complex-{dataset}", "start.model.relation=0.0"),
        "one that does not: on CoDEx-S 2p had gained 2; of FB15k-237 not said",
        on="fast",
    ),
    "two-links": Lever(
        ("start=complex-{dataset}", "start_members=2", "model.dim=4000", "model.width=2000"),
        "two link predictors side by side, an encoder as wide as before: 0.4 more, as on CoDEx-S",
        on="fast",
    ),
    "narrow": Lever(("model.width=800",), "an encoder of width 800: not said", on="fast"),
    "narrow-forks": Lever(
        ("model.fork=both", "model.fork_width=400"), "likewise the network at forks: not said", on="fast"
    ),
    "blunt": Lever(("model.sharpness=1.3",), "2p and 3p less, by what they lose without training for it", on="fast"),
    "wide-own": Lever(
        ("model.tokens=own", "model.width=800", "model.layers=2"),
        "tables and a width of the encoder's own beside a wide base: 2p 0.8, 3p 0.4 more",
        on="fast",
    ),
    "no-encoder": Lever(("model.alone=9",), "chains and forks alone: what the encoder adds is lost", on="fast"),
    "expected": Lever(("model.variable=expected",), "the recipe's ip better; nothing else moves"),
    "mix-negation": Lever(
        (*MIXED, 'training.mix={"2in"=2.0,"3in"=2.0,"inp"=2.0,"pin"=2.0,"pni"=2.0}'),
        "of ten structures the negated ones count twice: negation gains a little, EPFO loses",
    ),
    "mix-epfo": Lever(
        (
            *MIXED,
            'training.mix={"1p"=3.0,"2p"=1.5,"3p"=1.5,"2i"=1.5,"3i"=1.5,'
            '"2in"=0.5,"3in"=0.5,"inp"=0.5,"pin"=0.5,"pni"=0.5}',
        ),
        "the reference code's shares, nearly: negation lives on its positive part, and gains with it",
    ),
    "denied": Lever(("model.negate=fork",), "negated branches are read as well as others: 3in, pni gain"),
    "denied-sum": Lever(
        ("model.negate=fork", "model.fork=sum"), "a sum of branches less the denied one: 1 more on negation"
    ),
    "removed": Lever(
        (f"{UPDATE}softmax.removed=128", f"{UPDATE}softmax.removed_weight=10.0"),
        "what negations take away ranks lower: 2in, 3in, pin, pni gain at this width, as they did not at 64",
    ),
    "removed-100": Lever(
        (f"{UPDATE}softmax.removed=128", f"{UPDATE}softmax.removed_weight=100.0"), "more of it: less, or more"
    ),
    "denied-removed": Lever(
        ("model.negate=fork", "model.fork=sum", f"{UPDATE}softmax.removed=128", f"{UPDATE}softmax.removed_weight=10.0"),
        "both",
    ),
    "contested": Lever(
        ("training.contested=20",),
        "training queries whose negations take as much away as the benchmark's: 1 more on negation",
    ),
    "exclude": Lever(("model.exclude=3.0",), "negated branches as points of their own: half as much again"),
    "learned-temperature": Lever(("model.learn_temperature=true",), "a learned one gains"),
    "warm": Lever(
        ("model.temperature=0.1", "model.learn_temperature=true"), "learned from 0.1, for 0.05: CoDEx-S gained 1.3"
    ),
    "kept-warm": Lever(("model.temperature=0.1",), "0.1, kept: less than learned"),
    "smoothing": Lever((f"{UPDATE}softmax.smoothing=0.1",), "0.3 with dropout 0.2 changed nothing"),
}


def lever_of(title: str, dataset: str) -> Lever:
    """A lever by its name, several as `name+name`, the later ones' settings last, or from `name:key=value,...`."""
    _, colon, settings = title.partition(":")
    if colon:
        return Lever(tuple(settings.split(",")))
    for name in title.split("+"):
        if name not in LEVERS:
            sys.exit(f"no lever {name!r}; there are: {', '.join(LEVERS)}")
    found = [LEVERS[name] for name in title.split("+")]
    settings_of_all = tuple(setting.replace("{dataset}", dataset) for lever in found for setting in lever.settings)
    return Lever(settings_of_all, "; ".join(lever.expected for lever in found))
