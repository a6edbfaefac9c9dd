"""The world: countries with capitals, borders, languages, currencies, cities, airports and more; bundled.

`scripts/make_world.py` made the triples from public data; `LICENSES.md` states their licences.
"""

from __future__ import annotations

from pathlib import Path

from pathformer.kg.datasets._registry import Dataset

__all__ = ["DATASET"]

DATASET = Dataset(
    title="countries, cities, languages, currencies and airports (bundled)",
    home="the package itself",
    licence="CC BY 4.0 (GeoNames, www.geonames.org; changed), Unicode License V3 (CLDR), MIT (airportsdata)",
    bundled=Path(__file__).parent / "world" / "triples.tsv",
    notices=Path(__file__).parent / "world" / "LICENSES.md",
    names="labels.tsv",
)
