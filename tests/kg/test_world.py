"""The bundled graph: its size, its shape, and that what it says is true where anybody can check."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

import pathformer

FOLDER = Path(pathformer.__file__).parent / "kg" / "world"

RELATIONS = {
    "borders",
    "capital_of",
    "has_time_zone",
    "in_continent",
    "in_hemisphere",
    "in_region",
    "largest_city_of",
    "located_in",
    "official_language",
    "population_in",
    "serves",
    "speaks",
    "uses_currency",
    "utc_offset",
    "week_starts_on",
    "written_in",
}
CAPITALS = """
    Italy Rome, France Paris, Japan Tokyo, Brazil Brasilia, Australia Canberra, Canada Ottawa, Turkey Ankara,
    Switzerland Bern, Nigeria Abuja, Kazakhstan Astana, Tanzania Dodoma, Ivory_Coast Yamoussoukro, Myanmar Nay_Pyi_Taw,
    New_Zealand Wellington, United_States Washington, China Beijing, India New_Delhi, Morocco Rabat, Vietnam Hanoi,
    Pakistan Islamabad, Bolivia Sucre, Mongolia Ulan_Bator, Palau Ngerulmud, Fiji Suva
"""
NEIGHBOURS = """
    Portugal: Spain; Italy: Austria France San_Marino Slovenia Switzerland Vatican; Canada: United_States;
    South_Korea: North_Korea; Paraguay: Argentina Bolivia Brazil; Lesotho: South_Africa; Japan: ; Iceland: ;
    Zambia: Angola Botswana Democratic_Republic_of_the_Congo Malawi Mozambique Namibia Tanzania Zimbabwe
"""


@pytest.fixture(scope="module")
def triples() -> list[tuple[str, str, str]]:
    lines = (FOLDER / "triples.tsv").read_text(encoding="utf-8").splitlines()
    return [(head, relation, tail) for head, relation, tail in (line.split("\t") for line in lines)]


@pytest.fixture(scope="module")
def facts(triples: list[tuple[str, str, str]]) -> dict[str, dict[str, set[str]]]:
    """relation -> head -> tails."""
    table: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for head, relation, tail in triples:
        table[relation][head].add(tail)
    return table


def test_size(triples: list[tuple[str, str, str]], facts: dict[str, dict[str, set[str]]]) -> None:
    assert len(triples) >= 6000
    assert set(facts) == RELATIONS
    assert len(facts["in_continent"]) >= 200, "countries"
    assert len(set(triples)) == len(triples)
    assert (FOLDER / "triples.tsv").stat().st_size < 400_000


def test_names_need_no_quotes(triples: list[tuple[str, str, str]]) -> None:
    names = {name for triple in triples for name in triple}
    assert [name for name in names if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_+/:-]*", name)] == []


def test_every_entity_has_a_label(triples: list[tuple[str, str, str]]) -> None:
    lines = (FOLDER / "labels.tsv").read_text(encoding="utf-8").splitlines()
    labels = dict(line.split("\t") for line in lines)
    assert set(labels) == {name for head, _, tail in triples for name in (head, tail)}
    assert (labels["Turkey"], labels["FCO"]) == ("Türkiye", "Leonardo Da Vinci (Fiumicino) International Airport")


@pytest.mark.parametrize("pair", [pair.split() for pair in CAPITALS.split(",")], ids=lambda pair: pair[0])
def test_capitals(facts: dict[str, dict[str, set[str]]], pair: list[str]) -> None:
    country, city = pair
    assert {c for c, of in facts["capital_of"].items() if country in of} == {city}
    assert facts["located_in"][city] == {country}


def test_borders_go_both_ways(triples: list[tuple[str, str, str]]) -> None:
    borders = {(head, tail) for head, relation, tail in triples if relation == "borders"}
    assert borders == {(tail, head) for head, tail in borders}
    assert not [one for one, other in borders if one == other]


@pytest.mark.parametrize("line", [line.strip() for line in NEIGHBOURS.split(";")], ids=lambda line: line.split(":")[0])
def test_neighbours(facts: dict[str, dict[str, set[str]]], line: str) -> None:
    country, others = line.split(":")
    assert facts["borders"].get(country, set()) == set(others.split())


def test_one_capital_one_continent_one_region(facts: dict[str, dict[str, set[str]]]) -> None:
    for relation in ("capital_of", "in_continent", "in_region", "in_hemisphere", "utc_offset", "largest_city_of"):
        assert all(len(tails) == 1 for tails in facts[relation].values()), relation


def test_official_languages_are_spoken(facts: dict[str, dict[str, set[str]]]) -> None:
    assert all(official <= facts["speaks"][country] for country, official in facts["official_language"].items())


@pytest.mark.parametrize(
    ("head", "relation", "tails"),
    [
        ("Switzerland", "official_language", {"French", "German", "Italian", "Swiss_German"}),
        ("Ecuador", "uses_currency", {"US_Dollar"}),
        ("Croatia", "uses_currency", {"Euro"}),
        ("Sydney", "in_hemisphere", {"Southern_Hemisphere"}),
        ("Sydney", "has_time_zone", {"Australia/Sydney"}),
        ("Asia/Kathmandu", "utc_offset", {"UTC+5:45"}),
        ("Europe/Dublin", "utc_offset", {"UTC"}),
        ("LHR", "serves", {"London"}),
        ("IST", "serves", {"Istanbul"}),
        ("Greek", "written_in", {"Greek_script"}),
        ("Egypt", "in_region", {"Northern_Africa"}),
        ("Egypt", "week_starts_on", {"Saturday"}),
        ("India", "population_in", {"Billions"}),
        ("Karachi", "largest_city_of", {"Pakistan"}),
    ],
)
def test_facts(facts: dict[str, dict[str, set[str]]], head: str, relation: str, tails: set[str]) -> None:
    assert facts[relation][head] == tails


def test_licences_stand_beside_it() -> None:
    licences = (FOLDER / "LICENSES.md").read_text(encoding="utf-8")
    for words in ("GeoNames", "Creative Commons Attribution 4.0", "UNICODE LICENSE V3", "The MIT License"):
        assert words in licences


def test_geonames_is_named_with_all_that_its_licence_asks_for() -> None:
    """CC BY 4.0, 3(a)(1): who made it, the licence with its address, the disclaimer, and that it was changed."""
    licences = " ".join((FOLDER / "LICENSES.md").read_text(encoding="utf-8").split())
    for words in (
        "data of GeoNames, https://www.geonames.org/",
        "Attribution 4.0 International License, https://creativecommons.org/licenses/by/4.0/",
        "were changed as said above",
        'provides them "as is", without warranty',
        "endorses neither",
        "It was read in copies of that file and not on GeoNames's own site",
    ):
        assert words in licences
    notice = " ".join((Path(__file__).parents[2] / "NOTICE").read_text(encoding="utf-8").split())
    assert "data of GeoNames, https://www.geonames.org/, licensed under the Creative Commons Attribution 4.0" in notice
    assert "https://creativecommons.org/licenses/by/4.0/; selected, renamed and corrected here" in notice
