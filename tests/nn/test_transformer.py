"""The encoder against loops written from the equations, one sequence, one head, one token at a time."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from pathformer.nn import attention
from pathformer.nn.attention import SelfAttention
from pathformer.nn.packing import Packing, mean_pool
from pathformer.nn.positions import RelativePositions, sinusoidal
from pathformer.nn.transformer import TransformerEncoder

LENGTHS = [5, 3, 3, 2, 1]
SIZES = {"dim": 12, "layers": 2, "heads": 3, "hidden": 20}


def encoder(**settings: object) -> TransformerEncoder:
    torch.manual_seed(1)
    made = TransformerEncoder(**SIZES, **settings)  # type: ignore[arg-type]
    for parameter in made.parameters():  # biases and gains too, which start at 0 and 1
        nn.init.normal_(parameter, std=0.3)
    return made.eval()


def naive(made: TransformerEncoder, tokens: Tensor) -> Tensor:
    """One sequence (L, d)."""
    x = tokens * made.scale
    if made.positions is not None:
        x = x + sinusoidal(len(x), x.shape[1])
    for layer in made.layers:
        if made.norm == "pre":
            x = x + _attend(layer.attention, layer.norm1(x))
            x = x + _feed(layer, layer.norm2(x))
        else:
            x = layer.norm1(x + _attend(layer.attention, x))
            x = layer.norm2(x + _feed(layer, x))
    return x if made.final is None else made.final(x)


def _feed(layer: nn.Module, x: Tensor) -> Tensor:
    return layer.contract(layer.expand(x).relu())


def _attend(attention: SelfAttention, x: Tensor) -> Tensor:
    length, dim = x.shape
    size = dim // attention.heads
    query, key, value = attention.qkv(x).split(dim, dim=1)
    out = torch.zeros(length, dim)
    for head in range(attention.heads):
        part = slice(head * size, (head + 1) * size)
        for i in range(length):
            seen = range(i + 1) if attention.causal else range(length)
            keys = [key[j, part] + _vector(attention.relative, "keys", j - i) for j in seen]
            values = [value[j, part] + _vector(attention.relative, "values", j - i) for j in seen]
            scores = torch.stack([query[i, part] @ k / math.sqrt(size) for k in keys])
            weights = scores.exp() / scores.exp().sum()
            out[i, part] = sum(w * v for w, v in zip(weights, values, strict=True))
    return attention.out(out)


def _vector(relative: RelativePositions | None, name: str, distance: int) -> Tensor | float:
    if relative is None:
        return 0.0
    return getattr(relative, name)[max(-relative.window, min(relative.window, distance)) + relative.window]


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("positions", ["absolute", "relative", "none"])
def test_the_encoder_is_its_equations(norm: str, causal: bool, positions: str) -> None:
    made = encoder(norm=norm, causal=causal, positions=positions, window=2)
    packing = Packing.of(LENGTHS)
    tokens = torch.randn(sum(LENGTHS), 12)
    found = made(tokens, packing)
    expected = torch.cat([naive(made, part) for part in tokens.split(LENGTHS)])
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("positions", ["absolute", "relative"])
@pytest.mark.parametrize(("few", "called"), [(8, True), (1, False)])
def test_a_few_sequences_without_gradients_are_the_same_in_one_call(
    causal: bool, positions: str, few: int, called: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, packing, rows = encoder(causal=causal, positions=positions), Packing.of([4, 4]), torch.randn(8, 12)
    with torch.enable_grad():
        plain = made(rows, packing)
    calls: list[bool] = []
    own = attention.F.scaled_dot_product_attention
    monkeypatch.setattr(
        attention.F, "scaled_dot_product_attention", lambda *a, **b: calls.append(b["is_causal"]) or own(*a, **b)
    )
    monkeypatch.setattr(attention, "FEW", few)
    with torch.no_grad():
        assert torch.allclose(made(rows, packing), plain, atol=1e-5)
    assert calls == ([causal] * 2 if called and positions == "absolute" else [])
    made.train()
    with torch.no_grad():
        made(rows, packing)  # with dropout, which that call would draw in another way
    assert len(calls) == (2 if called and positions == "absolute" else 0)


def test_without_scale_and_bias() -> None:
    made = encoder(scale=False, bias=False)
    assert made.scale == 1.0
    assert made.layers[0].attention.qkv.bias is None
    tokens = torch.randn(sum(LENGTHS), 12)
    expected = torch.cat([naive(made, part) for part in tokens.split(LENGTHS)])
    torch.testing.assert_close(made(tokens, Packing.of(LENGTHS)), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_layer_is_torchs_layer(norm: str) -> None:
    made = TransformerEncoder(12, 1, 3, 20, norm=norm, positions="none", scale=False).eval()  # type: ignore[arg-type]
    twin = nn.TransformerEncoderLayer(12, 3, 20, batch_first=True, norm_first=norm == "pre", layer_norm_eps=1e-6).eval()
    layer = made.layers[0]
    with torch.no_grad():
        for ours, theirs in [
            (layer.attention.qkv.weight, twin.self_attn.in_proj_weight),
            (layer.attention.qkv.bias, twin.self_attn.in_proj_bias),
            (layer.attention.out.weight, twin.self_attn.out_proj.weight),
            (layer.attention.out.bias, twin.self_attn.out_proj.bias),
            (layer.expand.weight, twin.linear1.weight),
            (layer.expand.bias, twin.linear1.bias),
            (layer.contract.weight, twin.linear2.weight),
            (layer.contract.bias, twin.linear2.bias),
        ]:
            theirs.copy_(ours.normal_(std=0.3))
        tokens = torch.randn(4, 3, 12)
        expected = twin(tokens)
        if norm == "pre":
            expected = made.final(expected)
        found = made(tokens.flatten(0, 1), Packing.of([3] * 4))
    torch.testing.assert_close(found, expected.flatten(0, 1), rtol=1e-4, atol=1e-5)


def test_sinusoidal_positions() -> None:
    table = sinusoidal(7, 10)
    for place in range(7):
        for i in range(5):
            angle = place / 10000 ** (2 * i / 10)
            assert table[place, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[place, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)
    assert sinusoidal(3, 5).shape == (3, 5)


def test_sequences_beyond_the_table_get_their_positions() -> None:
    made = encoder()
    tokens = torch.randn(70, 12)
    torch.testing.assert_close(made(tokens, Packing.of([70])), naive(made, tokens), rtol=1e-4, atol=1e-5)


def test_dropout_in_training_only() -> None:
    made = encoder(dropout=0.5)
    tokens, packing = torch.randn(sum(LENGTHS), 12), Packing.of(LENGTHS)
    assert torch.equal(made(tokens, packing), made(tokens, packing))
    made.train()
    assert not torch.equal(made(tokens, packing), made(tokens, packing))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_gain_is_that_of_the_last_norm(norm: str) -> None:
    made = TransformerEncoder(**SIZES, norm=norm, gain=0.25).eval()  # type: ignore[arg-type]
    out = made(torch.randn(9, 12), Packing.of([3] * 3))
    assert out.std(dim=1).mean().item() == pytest.approx(0.25, rel=0.1)
    gains = [p for name, p in made.named_parameters() if "norm" in name or "final" in name]
    assert sum(bool((gain == 0.25).all()) for gain in gains) == 1


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="an embedding size of 12 does not divide into 5 heads"):
        TransformerEncoder(12, 1, 5, 20)
    with pytest.raises(ValueError, match="an encoder has at least one layer, got 0"):
        TransformerEncoder(12, 0, 3, 20)


def test_mean_pool_is_the_mean_of_each_sequence() -> None:
    rows, packing = torch.randn(sum(LENGTHS), 4), Packing.of(LENGTHS)
    expected = torch.stack([part.mean(dim=0) for part in rows.split(LENGTHS)])
    torch.testing.assert_close(mean_pool(rows, packing), expected)


def test_packing() -> None:
    packing = Packing.of(LENGTHS)
    assert packing.offsets.tolist() == [0, 5, 8, 11, 13, 14]
    assert packing.positions.tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 0, 1, 0]
    assert [(g.first, g.count, g.length) for g in packing.groups] == [(0, 1, 5), (5, 2, 3), (11, 1, 2), (13, 1, 1)]
    assert packing.classes == ((0, 1, 8), (1, 2, 4), (3, 1, 2), (4, 1, 1))
    assert packing.longest == 5
    assert len(packing) == 5
    assert packing.groups[1].of(torch.arange(14)).tolist() == [[5, 6, 7], [8, 9, 10]]
