#include "checkpoint/run_recorder.hpp"

#include <exception>

#include <c10/util/Exception.h>

#include "text/names.hpp"
#include "trace/model_parameters.hpp"

namespace fewbit::session {

namespace {

/// Thrown out of the function once there is nothing more to be had of it.
class EnoughSaved final : public std::exception {
 public:
  const char* what() const noexcept override { return "fewbit::checkpoint has what it needs"; }
};

}  // namespace

bool is_kept_by_model(const at::Tensor& tensor, const SaveEvent& event) {
  return event.facts.parameter || is_of_parameter(tensor);
}

SavedOutline::SavedOutline(const SaveEvent& event)
    : operation(event.facts.operation),
      shape(event.facts.shape),
      type(event.facts.dtype),
      device(event.facts.device) {}

std::string SavedOutline::text() const {
  return operation + "'s " + c10::toString(type) + " " + shape_text(shape) + " on " + device.str();
}

std::unique_ptr<const PackedTensor> RunRecorder::replace(const at::Tensor& tensor,
                                                         const SaveEvent& event) {
  if (is_kept_by_model(tensor, event)) return nullptr;
  if (is_full()) throw EnoughSaved();  // a function that caught the first one
  const SavedOutline& expected = expected_[filled_.size()];
  const SavedOutline seen(event);
  TORCH_CHECK(seen == expected, kCheckpointOperation,
              ": run again for backward, the function saves ", seen.text(), " as tensor ",
              filled_.size() + 1, " of ", expected_.size(), " where the forward saved ",
              expected.text(), ": it has to do the same every time");
  filled_.push_back(kept_unchanged(tensor));
  if (is_full()) throw EnoughSaved();
  return kept_unchanged(tensor);
}

void RunRecorder::check_full() const {
  TORCH_CHECK(is_full(), kCheckpointOperation, ": run again for backward, the function saves ",
              filled_.size(), " tensors where the forward saved ", expected_.size(), ", next ",
              expected_[filled_.size()].text(), ": it has to do the same every time");
}

}  // namespace fewbit::session
