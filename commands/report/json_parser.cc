#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands/report/json.h"

namespace ringscope {
namespace {

/// Builds a value from the library's parser's events. The library's own documents would sort keys.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonBuilder(size_t max_depth) : max_depth_(max_depth) {}

  bool null() override { return Add(Json()); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override { return Add(value); }
  bool string(string_t& value) override { return Add(std::move(value)); }
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
  bool Add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Container& parent = open_.back(); parent.json.is_array()) {
      parent.json.push_back(std::move(value));
    } else {
      parent.json[key_] = std::move(value);
    }
    return true;
  }
  bool Enter(Json container) {
    if (open_.size() == max_depth_) {
      error_ =
          Error{ErrorCode::kLimit, fmt::format("more than {} levels of JSON", max_depth_), {}, {}};
      return false;
    }
    open_.push_back({std::move(container), std::move(key_)});
    return true;
  }
  bool Leave() {
    Container done = std::move(open_.back());
    open_.pop_back();
    key_ = std::move(done.key);
    return Add(std::move(done.json));
  }

  struct Container {
    Json json;
    std::string key;  // of it in its parent, if that is an object
  };
  const size_t max_depth_;
  Json root_;
  std::vector<Container> open_;  // around the next value
  std::string key_;              // of the next value
  std::optional<Error> error_;
};

}  // namespace

Result<Json> ParseOrderedJson(std::string_view text, size_t max_depth) {
  JsonBuilder builder(max_depth);
  const bool ok = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.Take(ok);
}

}  // namespace ringscope
