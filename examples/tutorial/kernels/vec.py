# kernels/vec.py
import triton
import triton.language as tl


@triton.jit
def axpy(a, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Adds a times x to y, vectors of n elements."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    y = tl.load(y_ptr + i, mask=inside) + a * tl.load(x_ptr + i, mask=inside)
    tl.store(y_ptr + i, y, mask=inside)


@triton.jit
def scale_rows(x_ptr, factor_ptr, bias_ptr, rows, cols, BLOCK: tl.constexpr):
    """Multiplies each row of a matrix by its factor, and adds its bias if there is one."""
    row = tl.program_id(0)
    factor = tl.load(factor_ptr + row)
    for start in range(0, cols, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * cols + i, mask=i < cols) * factor
        if bias_ptr is not None:
            x += tl.load(bias_ptr + row)
        tl.store(x_ptr + row * cols + i, x, mask=i < cols)


@triton.jit
def total(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    """Adds the sum of n elements to sum."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.atomic_add(sum_ptr, tl.sum(x, axis=0))
