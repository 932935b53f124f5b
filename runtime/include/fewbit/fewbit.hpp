#pragma once

/// All public headers of the runtime, for a libtorch program.
#include "fewbit/activation.hpp"
#include "fewbit/activation_scope.hpp"
#include "fewbit/bits.hpp"
#include "fewbit/calibrator.hpp"
#include "fewbit/checkpoint.hpp"
#include "fewbit/compressor.hpp"
#include "fewbit/functional.hpp"
#include "fewbit/memory_plan.hpp"
#include "fewbit/nn/modules.hpp"
#include "fewbit/noise_preview.hpp"
#include "fewbit/peak_bytes.hpp"
#include "fewbit/randomized_linear.hpp"
#include "fewbit/saved_bytes.hpp"
#include "fewbit/table.hpp"
#include "fewbit/tensor_subclass.hpp"
