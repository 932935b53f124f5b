"""A simulation of torch's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp of torch 2.11)
with its default settings, of one stream. Memory of the device never runs out in it, so that
segments return to the driver by empty_cache alone."""

from __future__ import annotations

import bisect
import dataclasses

MIB = 1 << 20
MIN_BLOCK = 512
SMALL_SIZE = MIB  # the largest request of the small pool
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
MIN_LARGE = 10 * MIB  # requests below it come from segments of LARGE_SEGMENT
ROUND_LARGE = 2 * MIB


def rounded(size: int, step: int) -> int:
    """The least multiple of `step` that is no less than `size`."""
    return -(-size // step) * step


def segment_size(size: int) -> int:
    """Bytes that cudaMalloc is asked for when no free block holds `size` bytes."""
    if size <= SMALL_SIZE:
        return SMALL_SEGMENT
    return LARGE_SEGMENT if size < MIN_LARGE else rounded(size, ROUND_LARGE)


@dataclasses.dataclass(eq=False, slots=True)
class Block:
    """Bytes of a segment, allocated or free, and its neighbours in the segment."""

    address: int
    size: int
    pool: Pool
    requested: int = 0
    is_free: bool = False
    before: Block | None = None
    after: Block | None = None


class Pool:
    """The free blocks of the small or of the large requests, by size, then by address."""

    def __init__(self, is_small: bool) -> None:
        self.is_small = is_small
        self.order: list[tuple[int, int]] = []
        self.blocks: dict[int, Block] = {}
        self.last: Block | None = None  # of the expandable segment

    def add(self, block: Block) -> None:
        block.is_free = True
        bisect.insort(self.order, (block.size, block.address))
        self.blocks[block.address] = block

    def remove(self, block: Block) -> None:
        block.is_free = False
        del self.order[bisect.bisect_left(self.order, (block.size, block.address))]
        del self.blocks[block.address]

    def best_fit(self, size: int) -> Block | None:
        """The smallest free block of at least `size` bytes. The end of an expandable segment counts
        as large as it can become."""
        index = bisect.bisect_left(self.order, (size, 0))
        if index == len(self.order):
            return None
        block = self.blocks[self.order[index][1]]
        if block is self.last and index + 1 < len(self.order):
            block = self.blocks[self.order[index + 1][1]]
        return block


class CachingAllocator:
    """Allocates blocks as torch does on a device, and counts bytes as torch.cuda.memory_stats.

    `expandable` is torch's setting expandable_segments: one segment for each pool, which grows by
    pages of 2 MiB (small requests) or 20 MiB.

    requested: bytes that were asked for and are allocated.
    allocated: the same with what rounding and blocks that are not split add.
    reserved: bytes of all segments.
    calls: of cudaMalloc, or how many times a segment grew.
    """

    def __init__(self, expandable: bool = False) -> None:
        self.expandable = expandable
        self.small, self.large = Pool(True), Pool(False)
        self.requested = self.allocated = self.reserved = self.calls = 0
        self._next_segment = 0

    def allocate(self, size: int) -> Block:
        """A block for `size` bytes, which are more than 0."""
        need = max(MIN_BLOCK, rounded(size, MIN_BLOCK))
        pool = self.small if need <= SMALL_SIZE else self.large
        block = pool.best_fit(need)
        if block is not None:
            pool.remove(block)
        elif self.expandable:
            block = self._grow(pool, need)
        else:
            block = self._new_segment(pool, segment_size(need))
        if self._splits(block, need):
            self._split(block, need)
        block.requested = size
        self.requested += size
        self.allocated += block.size
        return block

    def free(self, block: Block) -> None:
        """Returns a block to its pool, merged with its free neighbours."""
        self.requested -= block.requested
        self.allocated -= block.size
        pool = block.pool
        if block.before is not None and block.before.is_free:
            pool.remove(block.before)
            block.address = block.before.address
            block.size += block.before.size
            block.before = block.before.before
            if block.before is not None:
                block.before.after = block
        if block.after is not None and block.after.is_free:
            if pool.last is block.after:
                pool.last = block
            pool.remove(block.after)
            block.size += block.after.size
            block.after = block.after.after
            if block.after is not None:
                block.after.before = block
        pool.add(block)

    def empty_cache(self) -> None:
        """Returns segments that are free as a whole to the driver; none where they expand."""
        for pool in () if self.expandable else (self.small, self.large):
            for block in list(pool.blocks.values()):
                if block.before is None and block.after is None:
                    pool.remove(block)
                    self.reserved -= block.size

    def largest_free(self) -> int:
        """Bytes of the largest free block, which is what fits without another call."""
        return max(
            (pool.order[-1][0] for pool in (self.small, self.large) if pool.order), default=0
        )

    def _splits(self, block: Block, size: int) -> bool:
        rest = block.size - size
        if block.pool.is_small or self.expandable:
            return rest >= MIN_BLOCK
        return rest > SMALL_SIZE

    def _split(self, block: Block, size: int) -> None:
        rest = Block(block.address + size, block.size - size, block.pool)
        rest.before, rest.after = block, block.after
        if rest.after is not None:
            rest.after.before = rest
        block.after, block.size = rest, size
        if block.pool.last is block:
            block.pool.last = rest
        block.pool.add(rest)

    def _new_segment(self, pool: Pool, size: int) -> Block:
        """Its address is above those of earlier segments; a driver's may be another."""
        block = Block(self._next_segment, size, pool)
        self._next_segment += size
        self.reserved += size
        self.calls += 1
        return block

    def _grow(self, pool: Pool, size: int) -> Block:
        """The end of the pool's segment, grown by pages until it holds `size` bytes."""
        last = pool.last
        page = SMALL_SEGMENT if pool.is_small else LARGE_SEGMENT
        is_free = last is not None and last.is_free
        added = rounded(size - (last.size if is_free else 0), page)
        self.reserved += added
        self.calls += 1
        if is_free:
            pool.remove(last)
            last.size += added
            return last
        block = Block(last.address + last.size if last is not None else 0, added, pool)
        block.before = last
        if last is not None:
            last.after = block
        pool.last = block
        return block
