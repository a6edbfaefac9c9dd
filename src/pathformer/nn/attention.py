"""Self-attention within each of many short sequences.

P sequences, T rows, L tokens, d embedding size, H heads, D = d / H.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 (torch's own name for it)

from pathformer.nn.backend import is_fused
from pathformer.nn.dropout import Noise
from pathformer.nn.mlp import linear
from pathformer.nn.packing import Packing
from pathformer.nn.positions import RelativePositions

__all__ = ["SelfAttention"]

_KERNEL_LENGTH = 16  # the kernel holds a sequence in registers; longer ones take the plain lines
_KERNEL_SIZE = 2**31  # and it counts positions in 32 bits
FEW = 8  # sequences: on a processor torch's own attention is faster for so few, and slower for many


class SelfAttention(nn.Module):
    """softmax(Q K^T / sqrt(D)) V by head, then the output map.

    The output map's bias is left to the caller (`out.bias`), who adds it together with the residual.
    """

    def __init__(self, dim: int, heads: int, *, causal: bool, bias: bool, window: int | None) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"an embedding size of {dim} does not divide into {heads} heads")
        self.heads, self.causal = heads, causal
        self.qkv = nn.Linear(dim, 3 * dim, bias=bias)
        self.out = nn.Linear(dim, dim, bias=bias)
        self.relative = RelativePositions(dim // heads, window) if window is not None else None
        # Each of the three maps is d x d on its own, so Xavier's bound is taken for each and not for the stack.
        for part in (*self.qkv.weight.chunk(3), self.out.weight):
            nn.init.xavier_uniform_(part)
        for layer in (self.qkv, self.out):
            if bias:
                nn.init.zeros_(layer.bias)

    def forward(self, rows: Tensor, packing: Packing, noise: Noise) -> Tensor:
        """Mixes the rows of each sequence: rows (T, d) -> (T, d), without the output map's bias."""
        if is_fused(rows) and packing.longest <= _KERNEL_LENGTH and 3 * rows.numel() < _KERNEL_SIZE:
            mixed = self._run_kernel(linear(rows, self.qkv.weight), packing, noise)
        else:
            qkv = linear(rows, self.qkv.weight, self.qkv.bias)  # (T, 3d)
            mixed = torch.cat([self._plain(group.of(qkv), noise).flatten(0, 1) for group in packing.groups])
        return linear(mixed, self.out.weight)

    def _plain(self, qkv: Tensor, noise: Noise) -> Tensor:
        """Plain lines for sequences of one length: qkv (P, L, 3d) -> (P, L, d)."""
        count, length, _ = qkv.shape
        query, key, value = qkv.view(count, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind()  # (P, H, L, D)
        if count <= FEW and self.relative is None and not noise.rate and not torch.is_grad_enabled():
            mixed = F.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
            return mixed.transpose(1, 2).reshape(count, length, -1)
        scale = query.shape[-1] ** -0.5
        scores = query @ key.transpose(-1, -2)  # (P, H, L, L)
        if self.relative is not None:
            keys, values = (table[_distance_rows(length, table.device)] for table in self.relative.distances(length))
            scores = scores + torch.einsum("phid,ijd->phij", query, keys)
        scores = scores * scale
        if self.causal:
            future = torch.ones(length, length, dtype=torch.bool, device=qkv.device).triu(1)
            scores = scores.masked_fill(future, -torch.inf)
        weights = noise.drop(scores.softmax(dim=-1))
        mixed = weights @ value
        if self.relative is not None:
            mixed = mixed + torch.einsum("phij,ijd->phid", weights, values)
        joined: Tensor = mixed.transpose(1, 2).reshape(count, length, -1)
        return joined

    def _run_kernel(self, qkv: Tensor, packing: Packing, noise: Noise) -> Tensor:
        """The kernel, which adds the bias of qkv itself: (T, 3d) -> (T, d)."""
        from pathformer.nn.kernels.attention import attention, relative_attention

        bias, offsets, classes, seed = self.qkv.bias, packing.offsets, packing.classes, noise.seed()
        if self.relative is None:
            return attention(qkv, bias, offsets, classes, self.heads, self.causal, noise.rate, seed)
        keys, values = self.relative.distances(packing.longest)
        return relative_attention(qkv, bias, keys, values, offsets, classes, self.heads, self.causal, noise.rate, seed)


def _distance_rows(length: int, device: torch.device) -> Tensor:
    """Returns the row of each signed distance j - i in a table that starts at -(L - 1): (L, L)."""
    positions = torch.arange(length, device=device)
    return positions[None, :] - positions[:, None] + length - 1
