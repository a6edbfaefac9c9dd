"""WHAT IS KNOWN: names, triples, splits, files."""

from pathformer.kg.graph import Graph
from pathformer.kg.knowledge import KnowledgeGraph
from pathformer.kg.vocab import Vocabulary

__all__ = ["Graph", "KnowledgeGraph", "Vocabulary"]
