#include "table/json_guard.hpp"

#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace fewbit::solver {

namespace {

using nlohmann::json;

class Guard : public nlohmann::json_sax<json> {
 public:
  Guard(size_t depth, const std::string& file) : depth_(depth), file_(file) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }

  bool start_object(size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) throw Error("key appears twice", file_, name);
    return true;
  }

  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& fault) override {
    // Drops the library's "[json.exception...] " and what it quotes of the input.
    std::string message = fault.what();
    message = message.substr(message.find("] ") + 2);
    throw Error("not a JSON text: " + message.substr(0, message.find("; last read")), file_);
  }

 private:
  bool open() {
    if (keys_.size() >= depth_) {
      throw Error("nested deeper than " + std::to_string(depth_) + " levels, a table is not",
                  file_);
    }
    keys_.emplace_back();
    return true;
  }

  bool close() {
    keys_.pop_back();
    return true;
  }

  size_t depth_;
  const std::string& file_;
  std::vector<std::set<std::string>> keys_;  ///< of each open object; arrays leave theirs empty
};

}  // namespace

void guard_json(std::string_view text, size_t depth, const std::string& file) {
  Guard guard(depth, file);
  json::sax_parse(text.begin(), text.end(), &guard);
}

}  // namespace fewbit::solver
