"""A kernel for cooperative launch: all its programs run at the same time."""

import triton
import triton.language as tl


@triton.jit
def grid_barrier(arrived_ptr):
    """Waits until every program of the grid is here.

    Arrivals are counted without end, so that the next launch can go on from
    where this one stopped.
    """
    programs = tl.num_programs(0).to(tl.int64)
    tl.debug_barrier()  # what all threads have written is published by the one that arrives
    ticket = tl.atomic_add(arrived_ptr, 1, sem="acq_rel")
    goal = (ticket // programs + 1) * programs
    while tl.atomic_add(arrived_ptr, 0, sem="acquire") < goal:
        pass
    tl.debug_barrier()


@triton.jit
def normalize(x_ptr, out_ptr, partial_ptr, arrived_ptr, n, BLOCK: tl.constexpr, MAX_PROGRAMS: tl.constexpr):
    """Divides each of n elements by the sum of all, in one launch.

    Every program sums its share, waits for all others and divides its share by
    the whole sum; the order of additions depends on the grid alone, so results
    repeat bit for bit. partial has room for one element for each program.
    arrived is one counter, zero before the first launch and then left alone as
    long as the grid stays the same. The output may be the input. The grid is
    one-dimensional, of any size up to MAX_PROGRAMS that fits the GPU at once;
    a cooperative launch refuses a larger one.
    """
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    first = pid.to(tl.int64) * BLOCK
    step = programs.to(tl.int64) * BLOCK
    lanes = tl.arange(0, BLOCK)

    sums = tl.zeros((BLOCK, ), tl.float32)
    for start in range(first, n, step):
        sums += tl.load(x_ptr + start + lanes, mask=start + lanes < n, other=0.0)
    tl.store(partial_ptr + pid, tl.sum(sums, axis=0))

    grid_barrier(arrived_ptr)

    others = tl.arange(0, MAX_PROGRAMS)
    # Not through L1, which is not coherent between multiprocessors.
    partials = tl.load(partial_ptr + others, mask=others < programs, other=0.0, cache_modifier=".cg")
    total = tl.sum(partials, axis=0)
    for start in range(first, n, step):
        inside = start + lanes < n
        tl.store(out_ptr + start + lanes, tl.load(x_ptr + start + lanes, mask=inside) / total, mask=inside)
