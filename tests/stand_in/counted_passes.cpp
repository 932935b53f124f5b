#include "tests/stand_in/counted_passes.hpp"

#include <fstream>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <nlohmann/json.hpp>

namespace fewbit::test {

namespace {

/// The arguments of a call, by their names.
class Arguments {
 public:
  explicit Arguments(const at::RecordFunction& call) {
    const auto name = call.operator_name();
    if (!name) return;
    const auto schema = c10::Dispatcher::singleton().findSchema(*name);
    const auto values = call.inputs();
    for (size_t i = 0; schema && i < values.size(); ++i) {
      by_name_.emplace(schema->schema().arguments()[i].name(), values[i]);
    }
  }

  bool has(const std::string& name) const { return by_name_.contains(name); }
  const c10::IValue& at(const std::string& name) const { return by_name_.at(name); }
  int64_t number(const std::string& name) const { return has(name) ? at(name).toInt() : 0; }
  std::string text(const std::string& name) const {
    return has(name) ? std::string(at(name).toStringView()) : "";
  }

  /// "f32", of the elements that are coded or decoded.
  std::string type() const {
    const at::ScalarType type = has("dtype") ? at("dtype").toScalarType()
                                : has("xs")  ? at("xs").toTensorVector()[0].scalar_type()
                                             : at(has("x") ? "x" : "dy").toTensor().scalar_type();
    switch (type) {
      case at::kFloat:
        return "f32";
      case at::kBFloat16:
        return "bf16";
      case at::kHalf:
        return "f16";
      case at::kDouble:
        return "f64";
      default:
        return "bool";
    }
  }

  /// Of codes with so many levels.
  int64_t bits_of_levels() const {
    const auto levels = static_cast<int64_t>(at("levels").toDoubleVector().size());
    int64_t bits = 1;
    while (int64_t{1} << bits < levels) ++bits;
    return bits;
  }

 private:
  std::map<std::string, c10::IValue> by_name_;
};

std::string rounding_of(const Arguments& arguments, bool encodes) {
  const std::string rounding = arguments.text("rounding");
  if (rounding == "nearest") return "";
  if (rounding == "squares") return " squares";
  return encodes ? " random" : rounding == "dithered" ? " dithered" : "";
}

/// Of one tensor the kernel is that of the operation for one.
std::string together_pass(const std::string& operation, const Arguments& arguments) {
  const bool is_one = arguments.at("codes").toTensorVector().size() == 1;
  return is_one ? operation.substr(0, operation.rfind('_')) : operation;
}

std::string rotated_pass(const std::string& operation, const Arguments& arguments) {
  const int64_t states = arguments.number("states");
  std::string name = operation;
  if (states != 0) name.replace(0, std::string("rotated").size(), "trellis");
  name += " " + arguments.type() + " " + std::to_string(arguments.number("group")) + " b" +
          std::to_string(arguments.number("bits"));
  if (states != 0) name += "s" + std::to_string(states);
  if (arguments.has("class_bits")) name += "c" + std::to_string(arguments.number("class_bits"));
  return name;
}

}  // namespace

std::string pass_of(const at::RecordFunction& operation) {
  const std::string name = std::string(operation.name()).substr(std::string("fewbit::").size());
  const Arguments arguments(operation);
  if (name.ends_with("_together")) return rotated_pass(together_pass(name, arguments), arguments);
  if (name == "rotated_encode" || name == "rotated_decode" || name.starts_with("rotated_class_")) {
    return rotated_pass(name, arguments);
  }
  if (name == "group_encode" || name == "group_decode") {
    return name + " " + arguments.type() + rounding_of(arguments, name == "group_encode") + " b" +
           std::to_string(arguments.number("bits"));
  }
  if (name == "sign_encode" || name == "sign_decode") {
    return "mask" + name.substr(std::string("sign").size()) + " " + arguments.type() + " b1";
  }
  if (name == "activation_forward") {
    return "forward " + arguments.text("function") + " " + arguments.type() + " b" +
           std::to_string(arguments.bits_of_levels());
  }
  if (name.starts_with("activation_backward")) {
    return "backward " + arguments.type() + " " + std::to_string(arguments.bits_of_levels());
  }
  return name;
}

std::map<std::string, double> instructions_of_passes() {
  std::ifstream file(FEWBIT_SOURCE_DIR "/bench/results/cuda_counts.json");
  const nlohmann::json counts = nlohmann::json::parse(file);
  std::map<std::string, double> result;
  for (const auto& [name, counted] : counts.at("passes").items()) {
    std::string pass = name;
    if (name.find("intervals_uniform") != std::string::npos) continue;  // not by default
    for (const std::string_view table : {"smoothed_normal_", "levels_uniform_"}) {
      const size_t at = pass.find(table);
      if (at != std::string::npos) pass.erase(at, table.size());
    }
    result.emplace(pass, counted.at("instructions").get<double>());
  }
  return result;
}

}  // namespace fewbit::test
