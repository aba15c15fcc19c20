#include "formats/json/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "formats/io/hex.h"

namespace ringscope {
namespace {

Status CorruptAt(size_t byte) {
  return Fail(ErrorCode::kCorrupt, fmt::format("invalid JSON at byte {}", byte));
}

/// Checks the limits before anything is allocated. Counts a comma or an opening bracket as a value.
Status CheckLimits(std::string_view text, size_t max_values) {
  size_t values = 1, depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    // The library takes a zero byte for the end of the text.
    if (c == '\0') return CorruptAt(i + 1);
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    const bool opens = c == '[' || c == '{';
    if ((opens || c == ',') && values++ == max_values)
      return Fail(ErrorCode::kLimit, fmt::format("more than {} JSON values", max_values));
    if (opens && ++depth > kMaxJsonDepth)
      return Fail(ErrorCode::kLimit,
                  fmt::format("JSON nested deeper than {} levels", kMaxJsonDepth));
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return {};
}

}  // namespace

std::string JsonText(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

const Json* FindKey(const Json& json, std::string_view key) {
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

Json::json_pointer KeyPath(std::string key) {
  std::replace(key.begin(), key.end(), '.', '/');
  return Json::json_pointer("/" + key);
}

Result<Json> ParseJson(std::string_view text, size_t max_values) {
  RS_RETURN_IF_ERROR(CheckLimits(text, max_values));
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& error) {
    return tl::unexpected(CorruptAt(error.byte).error());
  } catch (const Json::out_of_range&) {
    return Fail(ErrorCode::kCorrupt, "invalid JSON: a number is too large");
  }
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<uint8_t>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += '"';
}

void JsonObjectWriter::Key(std::string_view key) {
  if (!first_) out_ += ',';
  first_ = false;
  out_ += '"';
  out_ += key;
  out_ += "\":";
}

void JsonObjectWriter::Uint(std::string_view key, uint64_t value) {
  Key(key);
  const fmt::format_int digits(value);
  out_.append(digits.data(), digits.size());
}

void JsonObjectWriter::Int(std::string_view key, int64_t value) {
  Key(key);
  out_ += fmt::format_int(value).str();
}

void JsonObjectWriter::Uints(std::string_view key, const std::vector<uint64_t>& values) {
  Key(key);
  fmt::format_to(std::back_inserter(out_), "[{}]", fmt::join(values, ","));
}

void JsonObjectWriter::Bool(std::string_view key, bool value) {
  Key(key);
  out_ += value ? "true" : "false";
}

void JsonObjectWriter::Name(std::string_view key, std::string_view value) {
  Key(key);
  out_ += '"';
  out_ += value;
  out_ += '"';
}

void JsonObjectWriter::Text(std::string_view key, std::string_view value) {
  if (!IsUtf8(value)) {
    Hex(std::string(key) + "_hex", wire::AsBytes(value));
    return;
  }
  Key(key);
  AppendJsonString(out_, value);
}

void JsonObjectWriter::Hex(std::string_view key, Bytes value) {
  Key(key);
  out_ += '"';
  AppendHex(out_, value);
  out_ += '"';
}

std::optional<std::string_view> KeyReader::TextIfThere(std::string_view key) const {
  const Json* value = Find(key);
  const std::string* text = value == nullptr ? nullptr : value->get_ptr<const std::string*>();
  return text == nullptr ? std::nullopt : std::optional<std::string_view>(*text);
}

const Json* KeyReader::Require(std::string_view key) {
  const Json* const value = Find(key);
  if (value == nullptr) Fail(key, "missing, and required here");
  return value;
}

uint64_t KeyReader::ToUint(std::string_view key, const Json* value, uint64_t max) {
  if (value == nullptr) return 0;
  const uint64_t* number = value->get_ptr<const uint64_t*>();
  if (number != nullptr && *number <= max) return *number;
  FailExpected(key, fmt::format("an integer from 0 to {}", max));
  return 0;
}

std::vector<uint64_t> KeyReader::Uints(std::string_view key) {
  std::vector<uint64_t> numbers;
  for (const Json& element : Elements(key)) {
    const uint64_t* const number = element.get_ptr<const uint64_t*>();
    if (number == nullptr)
      Fail(ElementName(key, numbers.size()),
           fmt::format("expected an integer from 0 to {}", UINT64_MAX));
    numbers.push_back(number == nullptr ? 0 : *number);
  }
  return numbers;
}

std::optional<int32_t> KeyReader::OptionalInt32(std::string_view key) {
  constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) return static_cast<int32_t>(ToUint(key, value, kMax));
  const int64_t* negative = value->get_ptr<const int64_t*>();
  if (negative != nullptr && *negative >= kMin) return static_cast<int32_t>(*negative);
  FailExpected(key, fmt::format("an integer from {} to {}", kMin, kMax));
  return std::nullopt;
}

bool KeyReader::BoolOr(bool fallback, std::string_view key) {
  const Json* value = Find(key);
  if (value == nullptr) return fallback;
  const bool* truth = value->get_ptr<const bool*>();
  if (truth == nullptr) FailExpected(key, "true or false");
  return truth != nullptr && *truth;
}

std::string KeyReader::Text(std::string_view key) {
  const std::string hex_key = std::string(key) + "_hex";
  if (Has(key) || !Has(hex_key)) {
    const std::string* text = ReadString(key);
    return text ? *text : std::string();
  }
  std::string text;
  Hex(hex_key, std::string::npos, text);
  return text;
}

std::string KeyReader::TextOr(std::string_view fallback, std::string_view key) {
  if (!Has(key) && !Has(std::string(key) + "_hex")) return std::string(fallback);
  return Text(key);
}

void KeyReader::Hex(std::string_view key, size_t max_bytes, std::string& out) {
  const std::string* digits = ReadString(key);
  if (digits == nullptr) return;
  if (digits->size() / 2 > max_bytes)
    FailTooLarge(key, digits->size() / 2, max_bytes);
  else if (!DecodeHex(*digits, out))
    FailExpected(key, "an even number of hex digits");
}

void KeyReader::Fail(std::string_view key, std::string_view what) {
  if (!status_) return;
  status_ =
      ringscope::Fail(ErrorCode::kCorrupt, fmt::format("key \"{}\": {}", FullName(key), what));
}

const std::string* KeyReader::ReadString(std::string_view key) {
  const Json* value = Require(key);
  if (value != nullptr && !value->is_string()) FailExpected(key, "a string");
  return value == nullptr ? nullptr : value->get_ptr<const std::string*>();
}

const Json::array_t& KeyReader::Elements(std::string_view key) {
  static const Json::array_t kNone;
  const Json* value = Require(key);
  if (value != nullptr && value->is_array()) return value->get_ref<const Json::array_t&>();
  FailExpected(key, "an array");
  return kNone;
}

void KeyReader::FailExpected(std::string_view key, std::string_view expected) {
  const Json* value = Find(key);
  // The value found helps, if it is short enough to read.
  std::string found;
  if (value != nullptr)
    found = value->is_array() ? "an array" : value->is_object() ? "an object" : JsonText(*value);
  constexpr size_t kShort = 40;
  const bool is_short = !found.empty() && found.size() <= kShort;
  Fail(key, fmt::format("expected {}{}{}", expected, is_short ? ", found " : "",
                        is_short ? found : std::string()));
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

std::string KeyReader::ElementName(std::string_view key, size_t index) {
  return fmt::format("{}[{}]", key, index);
}

std::string KeyReader::FullName(std::string_view key) const {
  if (list_ == nullptr) return fmt::format("{}{}", prefix_, key);
  return fmt::format("{}.{}", list_->FullName(ElementName(list_key_, index_)), key);
}

}  // namespace ringscope
