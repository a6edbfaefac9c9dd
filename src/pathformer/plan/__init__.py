"""MANY QUERIES, FEW TENSORS: a static layout of path and fork steps, and the ids that change."""

from pathformer.plan.build import Plan, build_layout, build_plan, plan_trees
from pathformer.plan.explain import explain
from pathformer.plan.layout import Block, ForkStep, Layout, PathStep, Token, UnionWay

__all__ = [
    "Block",
    "ForkStep",
    "Layout",
    "PathStep",
    "Plan",
    "Token",
    "UnionWay",
    "build_layout",
    "build_plan",
    "explain",
    "plan_trees",
]
