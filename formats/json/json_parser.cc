#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "formats/json/json.h"

namespace ringscope {
namespace {

/// Builds a value from the library's parser's events and stops it at the limits. The library's own
/// documents have none, and sort their keys.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonBuilder(size_t max_values) : max_values_(max_values) {}

  bool null() override { return Add(Json()) != nullptr; }
  bool boolean(bool value) override { return Add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return Add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return Add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override {
    return Add(value) != nullptr;
  }
  bool string(string_t& value) override { return Add(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return false; }  // JSON text has none
  bool start_object(size_t) override { return Enter(Json::object()); }
  bool start_array(size_t) override { return Enter(Json::array()); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return Leave(); }
  bool end_array() override { return Leave(); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_ = Error{ErrorCode::kCorrupt, fmt::format("invalid JSON at byte {}", position), {}, {}};
    return false;
  }

  Result<Json> Take(bool ok) {
    if (error_) return tl::unexpected<Error>(std::move(*error_));
    if (!ok) return Fail(ErrorCode::kCorrupt, "invalid JSON");
    return std::move(root_);
  }

 private:
  Json* Add(Json value) {
    if (++values_ > max_values_)
      return Exceed(fmt::format("more than {} JSON values", max_values_));
    if (open_.empty()) return &(root_ = std::move(value));
    Json& parent = *open_.back();
    if (!parent.is_array()) return &(parent[key_] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.items().back();
  }
  Json* Exceed(std::string what) {
    error_ = Error{ErrorCode::kLimit, std::move(what), {}, {}};
    return nullptr;
  }
  bool Enter(Json container) {
    if (open_.size() == kMaxJsonDepth)
      return Exceed(fmt::format("JSON nested deeper than {} levels", kMaxJsonDepth)) != nullptr;
    Json* const added = Add(std::move(container));
    if (added == nullptr) return false;
    open_.push_back(added);
    return true;
  }
  bool Leave() {
    open_.pop_back();
    return true;
  }

  const size_t max_values_;
  Json root_;
  std::vector<Json*> open_;  // the containers around the next value; only the last one grows
  std::string key_;
  size_t values_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<Json> ParseJson(std::string_view text, size_t max_values) {
  // The library takes a zero byte for the end, whatever follows it.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    return Fail(ErrorCode::kCorrupt, fmt::format("invalid JSON at byte {}", zero + 1));
  JsonBuilder builder(max_values);
  const bool ok = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.Take(ok);
}

}  // namespace ringscope
