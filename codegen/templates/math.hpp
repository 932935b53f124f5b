// All float primitives; the generated math.hpp is these files in this order.
#pragma once

#include "codegen/templates/math/basic.hpp"
#include "codegen/templates/math/brief.hpp"
#include "codegen/templates/math/circular.hpp"
#include "codegen/templates/math/exp.hpp"
#include "codegen/templates/math/hyperbolic.hpp"
#include "codegen/templates/math/log.hpp"
#include "codegen/templates/math/logistic.hpp"
#include "codegen/templates/math/mish.hpp"
#include "codegen/templates/math/normal.hpp"
#include "codegen/templates/math/softsign.hpp"
#include "codegen/templates/math/warp.hpp"
#include "codegen/templates/math/wide.hpp"
