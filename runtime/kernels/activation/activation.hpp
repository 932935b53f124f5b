#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/activation/step_view.hpp"
#include "kernels/element_type.hpp"
#include "kernels/philox.hpp"
#include "kernels/stream/code_stream.hpp"

/// Few-bit activations on the CPU: a pass forward reads x and writes y = f(x) and the codes of
/// f'(x), a pass backward reads dy and the codes and writes dx. No torch, no allocation, no
/// threads: a caller splits [0, count) into ranges and runs them where it likes.
///
/// Every instruction set gives the same codes, bit for bit. Values are the same wherever there is a
/// fused multiply-add (AVX2, AVX-512, NEON) and may differ in the last bit below that. The thread's
/// floating-point mode (rounding, flushing of subnormals) changes nothing: passes set their own.
///
/// NaN: x > t is false for every t, so a NaN has the code of the lowest interval unless the table
/// has another one for it, and y is NaN. The gradient is level * dy, and +0 where the level is
/// zero. Infinities take the end levels and the limits of f.
namespace fewbit::kernels {

/// One function's kernels; the registry makes them.
struct FunctionKernels;

/// A function that kernels exist for. Points into constants of the program.
struct Activation {
  const char* name;
  int parameter_count;
  const double* default_parameters;  ///< parameter_count, in declared order
  const FunctionKernels* kernels;
};

/// The functions of generated/registry.inc, in its order.
std::span<const Activation> activations();

/// One of them or of the registered ones; else null. Takes no lock.
const Activation* find_activation(std::string_view name);

/// Makes find_activation know one more, which has to live as long as the program; false where its
/// name is taken. registry.cpp and values.cpp, compiled for other functions, make such activations.
bool register_activation(const Activation& activation);

/// y[i] = f(x[i]), and the codes of q(x[i]) in a stream of code_bytes(count, bits) bytes; `codes`
/// null: values only, and `steps` is not read. y may be x. `parameters` are parameter_count numbers
/// in declared order, null for the defaults; all types but fp64 round them to float. Accuracy of y:
/// 2 ulp or 2^-24 max(1, |x|), whichever is larger, and half a unit of a 16-bit type; curved
/// functions with default parameters are rounded to a 16-bit type just once, from double. Their
/// tables, and what is fitted to gates, tanh and sigmoid, are made in a few milliseconds at the
/// first pass.
void activation_forward(const Activation& activation, const double* parameters,
                        const StepView& steps, ElementType type, const void* x, void* y,
                        uint8_t* codes, const Range& range);

/// The unbiased form: the code is one of the two whose levels enclose f'(x), at random so that the
/// expected level is f'(x), clamped to the levels' range. The choice depends on random.seed,
/// random.offset and the element's index only (see PhiloxState), not on the ranges.
void activation_forward_unbiased(const Activation& activation, const double* parameters,
                                 const StepView& steps, PhiloxState random, ElementType type,
                                 const void* x, void* y, uint8_t* codes, const Range& range);

/// dx[i] = levels[code[i]] * dy[i], +0 where the level is zero. dx may be dy. Reads no level above
/// level_count, whatever the stream holds: codes that the table does not have count as zero levels.
void activation_backward(const StepView& steps, ElementType type, const void* dy,
                         const uint8_t* codes, void* dx, const Range& range);

}  // namespace fewbit::kernels
