#include "formats/json/json_keys.h"

#include <fmt/format.h>

#include <vector>

#include "formats/io/hex.h"

namespace ringscope {
namespace {

using nlohmann::json;

/// Builds a document from the parser's events and stops it at the limits. The library's own builder
/// has none: a line of a million brackets would cost a hundred bytes each.
class BoundedBuilder : public nlohmann::json_sax<json> {
 public:
  bool null() override { return Add(nullptr) != nullptr; }
  bool boolean(bool value) override { return Add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return Add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return Add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override {
    return Add(value) != nullptr;
  }
  bool string(string_t& value) override { return Add(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return false; }  // JSON text has none
  bool start_object(size_t) override { return Enter(json::object()); }
  bool start_array(size_t) override { return Enter(json::array()); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return Leave(); }
  bool end_array() override { return Leave(); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error_ = Error{ErrorCode::kCorrupt, fmt::format("invalid JSON at column {}", position), {}, {}};
    return false;
  }

  Result<json> Take(bool ok) {
    if (error_) return tl::unexpected<Error>(std::move(*error_));
    if (!ok) return Fail(ErrorCode::kCorrupt, "invalid JSON");
    return std::move(root_);
  }

 private:
  json* Add(json value) {
    if (++values_ > kMaxJsonValues)
      return Exceed(fmt::format("more than {} JSON values", kMaxJsonValues));
    if (open_.empty()) return &(root_ = std::move(value));
    json& parent = *open_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    return &(parent[key_] = std::move(value));
  }
  json* Exceed(std::string what) {
    error_ = Error{ErrorCode::kLimit, std::move(what), {}, {}};
    return nullptr;
  }
  bool Enter(json container) {
    if (open_.size() == kMaxJsonDepth)
      return Exceed(fmt::format("JSON nested deeper than {} levels", kMaxJsonDepth)) != nullptr;
    json* added = Add(std::move(container));
    if (added == nullptr) return false;
    open_.push_back(added);
    return true;
  }
  bool Leave() {
    open_.pop_back();
    return true;
  }

  json root_;
  std::vector<json*> open_;  // the containers around the next value
  std::string key_;
  size_t values_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<json> ParseJson(std::string_view text) {
  // The library takes a zero byte for the end, whatever follows it.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    return Fail(ErrorCode::kCorrupt, fmt::format("invalid JSON at column {}", zero + 1));
  BoundedBuilder builder;
  const bool ok = json::sax_parse(text.begin(), text.end(), &builder);
  return builder.Take(ok);
}

bool KeyReader::IsText(std::string_view key, std::string_view text) const {
  const json* value = Find(key);
  return value != nullptr && value->is_string() && value->get_ref<const std::string&>() == text;
}

std::optional<std::string_view> KeyReader::TextIfThere(std::string_view key) const {
  const json* value = Find(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get_ref<const std::string&>();
}

std::optional<int32_t> KeyReader::OptionalInt32(std::string_view key) {
  constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  const json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  // Only a negative number is stored with a sign.
  if (value->is_number_unsigned()) return static_cast<int32_t>(ReadUint(key, kMax).value_or(0));
  const int64_t number = value->is_number_integer() ? value->get<int64_t>() : 0;
  if (number >= 0 || number < kMin) {
    FailExpected(key, fmt::format("an integer from {} to {}", kMin, kMax));
    return std::nullopt;
  }
  return static_cast<int32_t>(number);
}

bool KeyReader::BoolOr(bool fallback, std::string_view key) {
  const json* value = Find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) FailExpected(key, "true or false");
  return value->is_boolean() && value->get<bool>();
}

std::string KeyReader::Text(std::string_view key) {
  const std::string hex_key = std::string(key) + "_hex";
  if (!Has(key) && Has(hex_key)) {
    std::string text;
    Hex(hex_key, std::string::npos, text);
    return text;
  }
  const std::string* text = ReadString(key);
  return text ? *text : std::string();
}

std::string KeyReader::TextOr(std::string_view fallback, std::string_view key) {
  if (!Has(key) && !Has(std::string(key) + "_hex")) return std::string(fallback);
  return Text(key);
}

void KeyReader::Hex(std::string_view key, size_t max_bytes, std::string& out) {
  const std::string* digits = ReadString(key);
  if (digits == nullptr) return;
  if (digits->size() / 2 > max_bytes) {
    FailTooLarge(key, digits->size() / 2, max_bytes);
  } else if (!DecodeHex(*digits, out)) {
    FailExpected(key, "an even number of hex digits");
  }
}

void KeyReader::Fail(std::string_view key, std::string_view what) {
  if (!status_) return;
  status_ =
      ringscope::Fail(ErrorCode::kCorrupt, fmt::format("key \"{}{}\": {}", prefix_, key, what));
}

const json* KeyReader::Find(std::string_view key) const {
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

std::optional<uint64_t> KeyReader::ReadUint(std::string_view key, uint64_t max) {
  const json* value = Find(key);
  if (value != nullptr && value->is_number_unsigned() && value->get<uint64_t>() <= max)
    return value->get<uint64_t>();
  FailExpected(key, fmt::format("an integer from 0 to {}", max));
  return std::nullopt;
}

const std::string* KeyReader::ReadString(std::string_view key) {
  const json* value = Find(key);
  if (value == nullptr) {
    FailMissing(key);
  } else if (!value->is_string()) {
    FailExpected(key, "a string");
  } else {
    return value->get_ptr<const std::string*>();
  }
  return nullptr;
}

size_t KeyReader::ArraySize(std::string_view key) {
  const json* value = Find(key);
  if (value == nullptr) {
    FailMissing(key);
  } else if (!value->is_array()) {
    FailExpected(key, "an array");
  } else {
    return value->size();
  }
  return 0;
}

const json* KeyReader::ObjectAt(std::string_view key, size_t index) {
  const json& element = (*Find(key))[index];
  if (element.is_object()) return &element;
  Fail(fmt::format("{}[{}]", key, index), "expected an object");
  return nullptr;
}

void KeyReader::FailMissing(std::string_view key) { Fail(key, "missing, and required here"); }

void KeyReader::FailExpected(std::string_view key, std::string_view expected) {
  const json* value = Find(key);
  // The value found helps, if it is short enough to read.
  std::string found;
  if (value != nullptr && value->is_primitive())
    found = value->dump(-1, ' ', false, json::error_handler_t::replace);
  else if (value != nullptr)
    found = value->is_array() ? "an array" : "an object";
  constexpr size_t kShort = 40;
  if (found.empty() || found.size() > kShort) {
    Fail(key, fmt::format("expected {}", expected));
  } else {
    Fail(key, fmt::format("expected {}, found {}", expected, found));
  }
}

void KeyReader::FailExpectedOneOf(std::string_view key, std::span<const char* const> names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    const char* const before = i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    list += fmt::format("{}\"{}\"", before, names[i]);
  }
  FailExpected(key, list);
}

void KeyReader::FailTooLarge(std::string_view key, size_t bytes, size_t max_bytes) {
  Fail(key, fmt::format("expected at most {} bytes, found {}", max_bytes, bytes));
}

std::string KeyReader::ElementName(std::string_view key, size_t index) const {
  return fmt::format("{}{}[{}]", prefix_, key, index);
}

}  // namespace ringscope
