"""triton_compile.py FILE...: compiles the kernels of emitted Triton modules for an sm_90."""

import importlib.util
import sys

import triton
from triton.backends.compiler import GPUTarget

TYPES = {
    "codes": "*u8",
    "n": "i64",
    "total": "i64",
    "levels": "*fp32",
    "thresholds": "*fp32",
    "codes_of_intervals": "*i32",
    "seed": "*i64",
    "GROUPS": "constexpr",
}


def compile_kernel(kernel, element):
    signature = {name: TYPES.get(name, "*" + element) for name in kernel.arg_names}
    source = triton.compiler.ASTSource(kernel, signature, {"GROUPS": 128})
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    assert compiled.asm["cubin"]


for file in sys.argv[1:]:
    spec = importlib.util.spec_from_file_location("emitted", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Every function with floats, the loops around them with the other types too.
    elements = ("fp32",) if "/functions/" in file else ("fp32", "fp16", "bf16")
    for element in elements:
        compile_kernel(module._forward_kernel, element)
        if len(elements) > 1:
            compile_kernel(module._backward_kernel, element)
print(len(sys.argv) - 1, "files compiled")
