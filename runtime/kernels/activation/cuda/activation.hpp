#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <cuda_runtime_api.h>

#include "kernels/activation/step_view.hpp"
#include "kernels/element_type.hpp"
#include "kernels/philox.hpp"

/// Few-bit activations on a CUDA device, the counterpart of kernels/activation/activation.hpp: the
/// same codes, bit for bit, in the same stream. All pointers to elements and codes are the
/// device's; tables and parameters are the host's and travel as kernel arguments, so that they may
/// go at once.
///
/// A launcher enqueues on `stream` and returns the launch's status. It does not synchronise,
/// allocate or throw, and may be captured into a graph. Any count and any alignment that the
/// element type allows: 16-byte aligned pointers take the fast path.
namespace fewbit::kernels::cuda {

/// The launchers of one function; the registry makes them.
struct FunctionLaunchers;

/// A function that kernels exist for. Points into constants of the program.
struct Activation {
  const char* name;
  int parameter_count;
  const double* default_parameters;  ///< parameter_count, in declared order
  const FunctionLaunchers* launchers;
};

/// The functions of generated/registry.inc, in its order.
std::span<const Activation> activations();

/// One of them or of the registered ones; else null. Takes no lock.
const Activation* find_activation(std::string_view name);

/// Makes find_activation know one more, which has to live as long as the program; false where its
/// name is taken.
bool register_activation(const Activation& activation);

/// y[i] = f(x[i]), and the codes of q(x[i]) in a stream of code_bytes(count, bits) bytes; `codes`
/// null: values only, and `steps` is not read. y may be x. `parameters` null: the defaults. Values
/// of float: 2 ulp or 2^-24 max(1, |x|), whichever is larger; of 16-bit types: within one unit of
/// the correctly rounded value; of double: a few ulp.
cudaError_t activation_forward(const Activation& activation, const double* parameters,
                               const StepView& steps, ElementType type, const void* x, void* y,
                               uint8_t* codes, int64_t count, cudaStream_t stream);

/// The unbiased form, as on the CPU: a code depends on *random.seed, random.offset and the
/// element's index only. The seed is read when the kernel runs: a captured graph takes what is
/// there then.
cudaError_t activation_forward_unbiased(const Activation& activation, const double* parameters,
                                        const StepView& steps, DevicePhilox random,
                                        ElementType type, const void* x, void* y, uint8_t* codes,
                                        int64_t count, cudaStream_t stream);

/// dx[i] = levels[code[i]] * dy[i], +0 where the level is zero. dx may be dy. Codes that the table
/// does not have count as zero levels.
cudaError_t activation_backward(const StepView& steps, ElementType type, const void* dy,
                                const uint8_t* codes, void* dx, int64_t count, cudaStream_t stream);

}  // namespace fewbit::kernels::cuda
