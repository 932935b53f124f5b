"""The simulated allocator of bench/, against cases that were worked by hand."""

import pathlib
import random
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parents[2] / "bench"))
from caching_allocator import MIB, CachingAllocator, segment_size


def test_sizes_of_segments():
    sizes = [512, MIB, MIB + 512, 10 * MIB - 512, 10 * MIB, 10 * MIB + 512]
    assert [segment_size(size) // MIB for size in sizes] == [2, 2, 20, 20, 10, 12]


def test_small_requests_share_a_segment():
    allocator = CachingAllocator()
    one, other = allocator.allocate(1), allocator.allocate(513)
    assert (one.size, other.size, other.address) == (512, 1024, 512)
    assert (allocator.requested, allocator.allocated) == (514, 1536)
    assert (allocator.reserved, allocator.calls) == (2 * MIB, 1)
    assert allocator.largest_free() == 2 * MIB - 1536
    allocator.free(one)
    allocator.free(other)
    assert allocator.largest_free() == 2 * MIB
    assert (allocator.requested, allocator.allocated, allocator.calls) == (0, 0, 1)


def test_a_large_block_is_split_where_more_than_one_mib_is_left():
    allocator = CachingAllocator()
    one = allocator.allocate(12 * MIB)
    allocator.free(one)
    whole = allocator.allocate(11 * MIB)
    assert (whole.size, allocator.calls) == (12 * MIB, 1)
    allocator.free(whole)
    part = allocator.allocate(11 * MIB - 512)
    assert (part.size, allocator.largest_free()) == (11 * MIB - 512, MIB + 512)


def test_the_smallest_block_that_fits_is_taken_and_the_lowest_of_equal_ones():
    allocator = CachingAllocator()
    sizes = [30 * MIB, 16 * MIB, 12 * MIB, 12 * MIB]
    blocks = [allocator.allocate(size) for size in sizes]
    for block in reversed(blocks):
        allocator.free(block)
    assert allocator.allocate(11 * MIB) is blocks[2]
    assert allocator.allocate(12 * MIB) is blocks[3]
    assert allocator.allocate(12 * MIB).address == blocks[1].address
    assert allocator.calls == 4


def test_free_blocks_of_different_segments_do_not_merge():
    allocator = CachingAllocator()
    for block in [allocator.allocate(20 * MIB) for _ in range(2)]:
        allocator.free(block)
    assert allocator.largest_free() == 20 * MIB
    allocator.allocate(40 * MIB)
    assert (allocator.calls, allocator.reserved) == (3, 80 * MIB)


def test_segments_that_are_free_as_a_whole_return():
    allocator = CachingAllocator()
    blocks = [allocator.allocate(size * MIB) for size in (2, 3, 12)]
    for block in blocks[1:]:
        allocator.free(block)
    allocator.empty_cache()
    assert allocator.reserved == 20 * MIB
    allocator.free(blocks[0])
    allocator.empty_cache()
    assert (allocator.reserved, allocator.largest_free()) == (0, 0)


def test_an_expandable_segment_grows_by_pages():
    allocator = CachingAllocator(expandable=True)
    blocks = [allocator.allocate(15 * MIB) for _ in range(2)]
    assert (allocator.reserved, allocator.calls) == (40 * MIB, 2)
    for block in blocks:
        allocator.free(block)
    assert allocator.largest_free() == 40 * MIB
    assert allocator.allocate(41 * MIB).size == 41 * MIB
    assert (allocator.reserved, allocator.largest_free()) == (60 * MIB, 19 * MIB)
    allocator.allocate(1)
    assert allocator.reserved == 62 * MIB


def test_the_end_of_an_expandable_segment_is_used_last():
    allocator = CachingAllocator(expandable=True)
    blocks = [allocator.allocate(size * MIB) for size in (8, 2, 6)]
    allocator.free(blocks[0])
    assert allocator.allocate(3 * MIB).address == 0  # though the end, 4 MiB, fits better


@pytest.mark.parametrize("expandable", [False, True])
def test_blocks_tile_their_segments(expandable):
    allocator, draws, held = CachingAllocator(expandable), random.Random(1), []
    for _ in range(2000):
        if held and draws.random() < 0.49:
            allocator.free(held.pop(draws.randrange(len(held))))
        else:
            held.append(allocator.allocate(int(2 ** draws.uniform(0, 25))))
        pools = (allocator.small, allocator.large)
        free = [block for pool in pools for block in pool.blocks.values()]
        assert allocator.allocated == sum(block.size for block in held)
        assert allocator.allocated + sum(block.size for block in free) == allocator.reserved
        for block in held + free:
            assert block.after is None or block.address + block.size == block.after.address
        for block in free:
            assert block.after is None or not block.after.is_free
