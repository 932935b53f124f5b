// The library of all operations, which a process has once. Each operation defines itself in a
// fragment of it, beside its code: activation.cpp.

#include <torch/library.h>

TORCH_LIBRARY(fewbit, library [[maybe_unused]]) {}
