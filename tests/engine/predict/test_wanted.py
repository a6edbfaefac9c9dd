"""What a list is asked for, and what is said of what cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.engines import FILMS

import pathformer as pf
from pathformer.engine.predict.wanted import TOP, Wanted, read_wanted
from pathformer.errors import InputError
from pathformer.kg.schema import RelationSchema

KG = pf.KnowledgeGraph.from_triples(FILMS, name="films").with_labels({"Noël": "Magali Noël"})


def read(*relations: str, **options: Any) -> Wanted:
    return read_wanted(list(relations), KG, RelationSchema(KG.graph()), **options)


def names(ids: np.ndarray) -> set[str]:
    return {KG.vocabulary.entity(entity) for entity in ids.tolist()}


def test_the_ends_are_those_of_the_relation() -> None:
    wanted = read("won")
    assert names(wanted.ends[0].heads) == {"La_Strada", "8½", "Leopard"}
    assert names(wanted.ends[0].tails) == {"Oscar", "Palme"}
    assert (wanted.ends[0].without, wanted.top, wanted.min_probability) == (0, TOP, 0)


def test_another_relation_or_a_file_names_them(tmp_path: Path) -> None:
    file = tmp_path / "people.txt"
    file.write_text("\ufeffMasina\r\n\nMagali Noël\nMasina\n", "utf-8")
    ends = read("stars", heads="won", tails=str(file), min_probability=0.5).ends[0]
    assert names(ends.heads) == {"La_Strada", "8½", "Leopard"}
    assert names(ends.tails) == {"Masina", "Noël"}
    ends = read("stars", heads=["Amarcord", "West", "Oscar"], tails="directed").ends[0]
    assert names(ends.tails) == {film for _, relation, film in FILMS if relation == "directed"}
    assert ends.without == 1


@pytest.mark.parametrize(
    ("relations", "options", "told"),
    [
        (["star"], {}, "no relation 'star'; closest: 'stars'"),
        ([], {}, "no relation is given"),
        (["won"], {"heads": "direct"}, "--heads: there is no file 'direct', and no relation 'direct'; closest"),
        (["won"], {"tails": []}, "--tails: the list is empty"),
        (["won"], {"tails": ["Oskar"]}, "no entity 'Oskar'; closest: 'Oscar'"),
        (["won"], {"top": 0}, "--top must be at least 1, got 0"),
        (["won"], {"min_probability": 1.5}, "--min-probability must be a number from 0 to 1, got 1.5"),
        (["won"], {"all_pairs": True, "top": 3}, "leave --top and --min-probability out"),
    ],
)
def test_wrong_wishes(relations: list[str], options: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as error:
        read(*relations, **options)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\n \n", "heads.txt holds no entity"),
        (b"Masina\nMasin\n", "heads.txt:2: no entity 'Masin'; closest: 'Masina'"),
        (b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_wrong_files(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "heads.txt"
    file.write_bytes(content)
    with pytest.raises(InputError) as error:
        read("won", heads=file)
    assert told in str(error.value)
