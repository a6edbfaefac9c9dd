"""Each fused kernel gives the numbers and the gradients of the plain lines beside it.

Needs a CUDA device, or TRITON_INTERPRET=1 with triton installed: then the kernels are interpreted on the processor.
Tolerances: float32 1e-5 of the largest value (other order of the same sums), bfloat16 2e-2 (one rounding of a result,
and of what it is made from).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from pathformer.nn.attention import SelfAttention
from pathformer.nn.backend import force
from pathformer.nn.draw_candidates import draw_candidates
from pathformer.nn.dropout import Noise
from pathformer.nn.packing import Packing, mean_pool
from pathformer.nn.transformer import enter, relu_dropout

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LENGTHS = [4, 4, 3, 3, 3, 2, 2, 1]
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 2e-2}

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("kernels")]
dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)


def random(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, device=DEVICE).to(dtype).requires_grad_()


def close(found: Tensor, expected: Tensor, dtype: torch.dtype) -> None:
    size = expected.float().abs().max().clamp(min=1e-3)
    assert found.shape == expected.shape
    assert torch.isfinite(found).all()
    assert ((found.float() - expected.float()).abs().max() / size).item() <= TOLERANCE[dtype]


def same(
    kernel: Callable[..., tuple[Tensor, ...]], plain: Callable[..., tuple[Tensor, ...]], inputs: list[Tensor]
) -> None:
    """Outputs and gradients of both, for random gradients of the outputs; the plain side in float32."""
    dtype = inputs[0].dtype
    copies = [value.detach().float().requires_grad_() for value in inputs]
    found, expected = kernel(*inputs), plain(*copies)
    grads = [torch.randn_like(value) for value in expected]
    for one, other in zip(found, expected, strict=True):
        close(one.detach(), other.detach(), dtype)
    torch.autograd.backward(found, [grad.to(value.dtype) for grad, value in zip(grads, found, strict=True)])
    torch.autograd.backward(expected, grads)
    for one, other in zip(inputs, copies, strict=True):
        assert one.grad is not None
        assert other.grad is not None
        close(one.grad, other.grad, dtype)


def mask(rate: float, seed: Tensor, shape: tuple[int, int]) -> Tensor:
    """The mask, times 1 / (1 - rate), that kernels draw for a tensor (T, d): found by dropping ones."""
    from pathformer.nn.kernels.dropout import enter as kernel

    ones = torch.ones(shape, device=DEVICE)
    return kernel(ones, None, torch.zeros(len(ones), dtype=torch.int64, device=DEVICE), 1.0, rate, seed)


@dtypes
@pytest.mark.parametrize("width", [48, 100])
@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_enter(dtype: torch.dtype, width: int, rate: float) -> None:
    from pathformer.nn.kernels.dropout import enter as kernel

    packing = Packing.of(LENGTHS, DEVICE)
    table = torch.randn(6, width, device=DEVICE)
    seed = torch.tensor([7], dtype=torch.int32, device=DEVICE) if rate else None
    count = len(packing.positions)
    factor = mask(rate, seed, (count, width)) if seed is not None else 1.0
    same(
        lambda rows: (kernel(rows, table, packing.positions, 3.0, rate, seed),),
        lambda rows: (enter(rows, table, packing, 3.0, Noise(0.0, 0, rows)) * factor,),
        [random(count, width, dtype=dtype)],
    )


@dtypes
@pytest.mark.parametrize("width", [48, 100])
@pytest.mark.parametrize("rate", [0.0, 0.3])
@pytest.mark.parametrize("biased", [True, False])
def test_add_norm(dtype: torch.dtype, width: int, rate: float, biased: bool) -> None:
    from pathformer.nn.kernels.norm import add_norm as kernel

    seed = torch.tensor([9], dtype=torch.int32, device=DEVICE) if rate else None
    factor = mask(rate, seed, (21, width)) if seed is not None else 1.0

    def plain(rows: Tensor, update: Tensor, gain: Tensor, shift: Tensor, *bias: Tensor) -> tuple[Tensor, Tensor]:
        total = rows + (update + bias[0] if bias else update) * factor
        return total, F.layer_norm(total, (width,), gain, shift, 1e-6)

    same(
        lambda rows, update, gain, shift, *bias: kernel(
            rows, update, bias[0] if bias else None, gain, shift, 1e-6, rate, seed
        ),
        plain,
        [random(21, width, dtype=dtype) for _ in range(2)] + [random(width, dtype=dtype) for _ in range(2 + biased)],
    )


@dtypes
def test_norm_alone(dtype: torch.dtype) -> None:
    from pathformer.nn.kernels.norm import add_norm as kernel

    rows, gain, shift = random(21, 48, dtype=dtype), random(48, dtype=dtype), random(48, dtype=dtype)
    total, _ = kernel(rows, None, None, gain, shift, 1e-6, 0.0, None)
    assert total is rows
    same(
        lambda rows, gain, shift: (kernel(rows, None, None, gain, shift, 1e-6, 0.0, None)[1],),
        lambda rows, gain, shift: (F.layer_norm(rows, (48,), gain, shift, 1e-6),),
        [rows, gain, shift],
    )


@dtypes
@pytest.mark.parametrize("width", [192, 200])
@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_relu_dropout(dtype: torch.dtype, width: int, rate: float) -> None:
    from pathformer.nn.kernels.dropout import relu_dropout as kernel

    seed = torch.tensor([11], dtype=torch.int32, device=DEVICE) if rate else None
    factor = mask(rate, seed, (37, width)) if seed is not None else 1.0
    same(
        lambda values, bias: (kernel(values, bias, rate, seed),),
        lambda values, bias: (relu_dropout(values, bias, Noise(0.0, 0, values)) * factor,),
        [random(37, width, dtype=dtype), random(width, dtype=dtype)],
    )


@dtypes
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("longest", [4, 7])
@pytest.mark.parametrize("window", [None, 2])
def test_attention(dtype: torch.dtype, causal: bool, longest: int, window: int | None) -> None:
    packing = Packing.of([longest, *LENGTHS], DEVICE)
    block = SelfAttention(40, 4, causal=causal, bias=True, window=window).to(DEVICE)
    low = SelfAttention(40, 4, causal=causal, bias=True, window=window).to(DEVICE)
    nn.init.normal_(block.qkv.bias)
    low.load_state_dict(block.state_dict())
    low = low.to(dtype)
    quiet = Noise(0.0, 0, torch.zeros(1))
    rows = len(packing.positions)

    def plain(qkv: Tensor) -> tuple[Tensor]:
        qkv = qkv + block.qkv.bias
        return (torch.cat([block._plain(group.of(qkv), quiet).flatten(0, 1) for group in packing.groups]),)

    same(lambda qkv: (low._fused(qkv, packing, quiet),), plain, [random(rows, 120, dtype=dtype)])
    for one, other in zip(low.parameters(), block.parameters(), strict=True):
        if other.grad is not None:
            assert one.grad is not None
            close(one.grad, other.grad, dtype)


@pytest.mark.parametrize("window", [None, 3])
def test_attention_drops_the_same_weights_forward_and_backward(window: int | None) -> None:
    packing = Packing.of(LENGTHS, DEVICE)
    block = SelfAttention(40, 4, causal=False, bias=True, window=window).to(DEVICE)
    seed = torch.tensor([3], dtype=torch.int32, device=DEVICE)

    class Fixed(Noise):
        def seed(self) -> Tensor:
            return seed

    noise = Fixed(0.4, 0, torch.zeros(1))
    qkv = random(len(packing.positions), 120)
    values = qkv.detach().clone()
    values[:, 80:] = 1.0  # the bias is zero
    if window is None:  # with all values 1 the result is the sum of the weights that were kept
        kept = block._fused(values, packing, noise).detach()
        assert 0.3 < (kept < 0.999).float().mean().item() < 1.0
    direction = torch.randn_like(qkv)
    out = block._fused(qkv, packing, noise)
    weights = torch.randn_like(out)
    (out * weights).sum().backward()
    step = 1e-3
    ahead = (block._fused(qkv.detach() + step * direction, packing, noise) * weights).sum()
    behind = (block._fused(qkv.detach() - step * direction, packing, noise) * weights).sum()
    assert qkv.grad is not None
    assert (qkv.grad * direction).sum().item() == pytest.approx(((ahead - behind) / (2 * step)).item(), rel=2e-2)


@dtypes
def test_mean_pool(dtype: torch.dtype) -> None:
    from pathformer.nn.kernels.pool import mean_pool as kernel

    packing = Packing.of(LENGTHS, DEVICE)
    rows = random(len(packing.positions), 48, dtype=dtype)
    if DEVICE == "cpu":
        same(lambda rows: (kernel(rows, packing.offsets),), lambda rows: (mean_pool(rows, packing),), [rows])
    else:
        plain = Packing.of(LENGTHS)
        same(
            lambda rows: (kernel(rows, packing.offsets),),
            lambda rows: (mean_pool(rows.cpu(), plain).to(DEVICE),),
            [rows],
        )


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_masks_are_even_and_differ_by_seed(rate: float) -> None:
    seeds = [torch.tensor([value], dtype=torch.int32, device=DEVICE) for value in (0, 1, 2**31 - 2)]
    shape = (64, 512)
    kept = [(mask(rate, seed, shape) > 0).float() for seed in seeds]
    noise = 5 * (rate * (1 - rate) / kept[0].numel()) ** 0.5  # five standard deviations
    for one in kept:
        assert one.mean().item() == pytest.approx(1 - rate, abs=noise)
        assert one.mean(dim=0).std().item() == pytest.approx((rate * (1 - rate) / shape[0]) ** 0.5, rel=0.3)
        for other in (one.roll(1, 1), one.roll(1, 0), one.roll(2, 1)):
            assert ((one - 1 + rate) * (other - 1 + rate)).mean().item() == pytest.approx(0, abs=noise)
    assert ((kept[0] - 1 + rate) * (kept[1] - 1 + rate)).mean().item() == pytest.approx(0, abs=noise)


@dtypes
def test_a_table_read_by_rows_and_by_distance_gets_one_gradient(dtype: torch.dtype) -> None:
    from pathformer.nn.kernels.table import TableGradient, assemble, l1_distance

    ids = torch.tensor([3, 0, 3, 6], dtype=torch.int32, device=DEVICE)
    places = torch.tensor([4, 1, 0, 3], device=DEVICE)
    others = torch.tensor([2, 5], device=DEVICE)
    pairs = torch.randint(9, (5, 21), dtype=torch.int32, device=DEVICE)

    def kernel(table: Tensor, points: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        gradient = TableGradient()
        opened = gradient.open(table)
        rows = assemble([(opened, gradient, ids, places)], (values, others), 6)
        return rows, l1_distance(points, opened, gradient, pairs)

    def plain(table: Tensor, points: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        rows = torch.zeros(6, 48, device=DEVICE).index_copy(0, places, table[ids.long()])
        rows = rows.index_copy(0, others, values)
        return rows, (points[:, None] - table[pairs.long()]).abs().sum(-1)

    same(kernel, plain, [random(9, 48, dtype=dtype), random(5, 48, dtype=dtype), random(2, 48, dtype=dtype)])


def test_a_gradient_is_added_up_by_every_backward_pass_anew() -> None:
    from pathformer.nn.kernels.table import TableGradient, assemble

    table = random(9, 48)
    for _ in range(2):
        gradient = TableGradient()
        ids = torch.arange(3, device=DEVICE)
        opened = gradient.open(table)
        twice = [assemble([(opened, gradient, ids, ids)], None, 3) for _ in range(2)]
        table.grad = None
        (twice[0].sum() + 2 * twice[1].sum()).backward()
        assert table.grad is not None
        assert table.grad.sum(dim=1).tolist() == [144.0] * 3 + [0.0] * 6


@pytest.mark.parametrize("filtered", [True, False])
def test_draw(filtered: bool) -> None:
    from pathformer.nn.kernels.draw_candidates import draw_candidates as kernel

    total = 40
    sets = [sorted(torch.randperm(total)[:size].tolist()) for size in (1, 2, 7, 31, 39, 40)]
    bounds = torch.tensor([0, *torch.tensor([len(s) for s in sets]).cumsum(0).tolist()], device=DEVICE)
    members = torch.tensor([m for s in sets for m in s], dtype=torch.int32, device=DEVICE)
    chosen = torch.tensor([5, 0, 1, 2, 3, 4, 4], device=DEVICE)
    chance = torch.randint(2**62, (7, 130), device=DEVICE)[:, 1:]
    found, sizes = kernel(chance, chosen, bounds, members, total, filtered)
    moved = [value.cpu() for value in (chance, chosen, bounds, members)]
    expected, expected_sizes = draw_candidates(*moved, total, filtered)
    assert torch.equal(found.cpu(), expected)
    assert torch.equal(sizes.cpu(), expected_sizes)


@pytest.mark.parametrize("low", [True, False])
def test_adam(low: bool) -> None:
    from pathformer.nn.kernels.adam import AdamKernel
    from pathformer.training.adam import Adam

    shapes = [(5000,), (3, 100), (7,), (2, 2)]
    start = [torch.randn(shape, device=DEVICE) for shape in shapes]

    def make() -> tuple[Adam, list[nn.Parameter]]:
        masters = [nn.Parameter(value.clone()) for value in start]
        working = [nn.Parameter(m.detach().bfloat16()) for m in masters] if low else masters
        names = [f"w{place}" for place in range(len(shapes))]
        pairs = dict(zip(names, masters, strict=True)), dict(zip(names, working, strict=True))
        return Adam(*pairs, rate=1e-2, decay=0.1, factors={"w1": 0.5}), working

    (fast, fast_weights), (plain, plain_weights) = make(), make()
    fast._kernel = AdamKernel(fast.slots, fast._rate, fast.steps, fast.betas, fast.epsilon)
    plain._kernel = None
    for _ in range(3):
        for one, other in zip(fast_weights[:3], plain_weights[:3], strict=True):  # the last has no gradient
            one.grad = torch.randn_like(one)
            other.grad = one.grad.clone()
        fast.update()
        plain.update()
    for one, other in zip(fast.slots, plain.slots, strict=True):
        close(one.master, other.master, torch.float32)
        close(one.second, other.second, torch.float32)
        close(one.working.detach(), one.master, torch.bfloat16)
    assert torch.equal(fast.slots[3].master, start[3])


@dtypes
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_cross_entropy_of_products(dtype: torch.dtype, smoothing: float) -> None:
    from pathformer.nn import cross_entropy

    targets = torch.stack([torch.randperm(5000, device=DEVICE)[:3] for _ in range(6)])
    shares = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]] * 2, device=DEVICE)
    inputs = [random(6, 8, dtype=dtype), random(5000, 8, dtype=dtype)]

    def plain(left: Tensor, right: Tensor) -> tuple[Tensor, ...]:
        return (cross_entropy.cross_entropy(left @ right.t(), targets, shares, smoothing),)

    def kernel(left: Tensor, right: Tensor) -> tuple[Tensor, ...]:
        return (cross_entropy.product_cross_entropy(left, right, targets, shares, smoothing),)

    with force("kernels"):
        same(kernel, plain, inputs)
