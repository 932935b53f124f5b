"""A UNet and a block of DiT, written by hand: each function gives a model and its loss."""

import torch
from torch import nn

WIDTH, BATCH = 64, 8


class Residual(nn.Module):
    """Two convolutions behind group norms, with a shift by the time in between."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.GroupNorm(8, inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, padding=1)
        )
        self.time = nn.Linear(WIDTH, outputs)
        self.second = nn.Sequential(
            nn.GroupNorm(8, outputs), nn.SiLU(), nn.Conv2d(outputs, outputs, 3, padding=1)
        )
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        hidden = self.first(x) + self.time(time)[:, :, None, None]
        return self.skip(x) + self.second(hidden)


class UNet(nn.Module):
    """Ronneberger et al. 2015, in the form of Ho et al. 2020, of two resolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.start = nn.Conv2d(3, WIDTH, 3, padding=1)
        self.down = Residual(WIDTH, WIDTH)
        self.smaller = nn.Conv2d(WIDTH, 2 * WIDTH, 3, stride=2, padding=1)
        self.middle = Residual(2 * WIDTH, 2 * WIDTH)
        self.larger = nn.Sequential(
            nn.Upsample(scale_factor=2), nn.Conv2d(2 * WIDTH, WIDTH, 3, padding=1)
        )
        self.up = Residual(2 * WIDTH, WIDTH)
        self.end = nn.Sequential(
            nn.GroupNorm(8, WIDTH), nn.SiLU(), nn.Conv2d(WIDTH, 3, 3, padding=1)
        )

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        at = self.time(time)
        large = self.down(self.start(x), at)
        small = self.larger(self.middle(self.smaller(large), at))
        return self.end(self.up(torch.cat([large, small], 1), at))


class DiTBlock(nn.Module):
    """Attention and MLP, each scaled, shifted and gated by the condition (Peebles and Xie 2023)."""

    def __init__(self, width: int = 128, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.condition = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))
        self.norms = nn.ModuleList(nn.LayerNorm(width, elementwise_affine=False) for _ in "12")
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width)
        )

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).flatten(2))

    def forward(self, x: torch.Tensor, condition: torch.Tensor) -> torch.Tensor:
        parts = self.condition(condition)[:, None].chunk(6, -1)
        for part, norm, layer in zip(
            (parts[:3], parts[3:]), self.norms, (self.attention, self.mlp), strict=True
        ):
            scale, shift, gate = part
            x = x + gate * layer(norm(x) * (1 + scale) + shift)
        return x


class DiT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(DiTBlock() for _ in range(2))

    def forward(self, x: torch.Tensor, condition: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x, condition)
        return x


def unet():
    model, x = UNet(), torch.randn(BATCH, 3, 32, 32)
    noise, time = torch.randn_like(x), torch.rand(BATCH, 1)
    return model, lambda: nn.functional.mse_loss(model(x + noise, time), noise)


def dit():
    model, x, condition = DiT(), torch.randn(BATCH, 64, 128), torch.randn(BATCH, 128)
    noise = torch.randn_like(x)
    return model, lambda: nn.functional.mse_loss(model(x + noise, condition), noise)
