"""The paper's figures without a run: Tables 9 (statistics), 10 (queries), 11 (answers a query), 15 (time)."""

from __future__ import annotations

__all__ = ["MEAN_ANSWERS", "QUERY_COUNTS", "RUNNING_TIME", "STATISTICS", "TIMED_ON"]

STATISTICS: dict[str, dict[str, int]] = {  # Table 9
    "fb15k-237": {
        "Entities": 14_505,
        "Relations": 237,
        "Training Edges": 272_115,
        "Val Edges": 17_526,
        "Test Edges": 20_438,
        "Total Edges": 310_079,
    },
    "nell995": {
        "Entities": 63_361,
        "Relations": 200,
        "Training Edges": 114_213,
        "Val Edges": 14_324,
        "Test Edges": 14_267,
        "Total Edges": 142_804,
    },
}

QUERY_COUNTS: dict[str, dict[str, int]] = {  # Table 10
    "fb15k-237": {
        "train 1p/2p/3p/2i/3i": 149_689,
        "train 2in/3in/inp/pin/pni": 14_968,
        "valid 1p": 20_101,
        "valid others": 5_000,
        "test 1p": 22_812,
        "test others": 5_000,
    },
    "nell995": {
        "train 1p/2p/3p/2i/3i": 107_982,
        "train 2in/3in/inp/pin/pni": 10_798,
        "valid 1p": 16_927,
        "valid others": 4_000,
        "test 1p": 17_034,
        "test others": 4_000,
    },
}

_COLUMNS = ("1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up", "2in", "3in", "inp", "pin", "pni")
_FB = (1.7, 17.3, 24.3, 6.9, 4.5, 17.7, 10.4, 19.6, 24.3, 16.3, 13.4, 19.5, 21.7, 18.2)
_NELL = (1.6, 14.9, 17.5, 5.7, 6.0, 17.4, 11.9, 14.9, 19.0, 12.9, 11.1, 12.9, 16.0, 13.0)

MEAN_ANSWERS: dict[str, dict[str, float]] = {  # Table 11: hard answers a test query, cut off after one decimal
    "fb15k-237": dict(zip(_COLUMNS, _FB, strict=True)),
    "nell995": dict(zip(_COLUMNS, _NELL, strict=True)),
}

TIMED_ON = "NVIDIA GTX 1080 Ti"  # Table 15

RUNNING_TIME: dict[str, dict[str, float]] = {  # Table 15: seconds for 100 steps; Pathformer: one layer
    "BetaE": {"EPFO Queries": 85.0, "FOL Queries": 184.0},
    "MLP": {"EPFO Queries": 20.0, "FOL Queries": 60.0},
    "GammaE": {"EPFO Queries": 34.0, "FOL Queries": 92.0},
    "Pathformer": {"EPFO Queries": 28.0, "FOL Queries": 76.0},
}
