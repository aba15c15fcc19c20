#include "formats/json/json_keys.h"

#include <fmt/format.h>

#include "formats/io/hex.h"

namespace ringscope {
bool KeyReader::IsText(std::string_view key, std::string_view text) const {
  return TextIfThere(key) == text;
}

std::optional<std::string_view> KeyReader::TextIfThere(std::string_view key) const {
  const Json* value = Find(key);
  const std::string* text = value == nullptr ? nullptr : value->get_ptr<const std::string*>();
  return text == nullptr ? std::nullopt : std::optional<std::string_view>(*text);
}

std::vector<uint64_t> KeyReader::Uints(std::string_view key) {
  std::vector<uint64_t> numbers(ArraySize(key));
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint64_t* number = (*Find(key))[i].get_ptr<const uint64_t*>();
    if (number == nullptr) {
      Fail(fmt::format("{}[{}]", key, i), "expected an integer from 0 to 18446744073709551615");
      return {};
    }
    numbers[i] = *number;
  }
  return numbers;
}

std::optional<int32_t> KeyReader::OptionalInt32(std::string_view key) {
  constexpr int64_t kMin = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->get_ptr<const uint64_t*>() != nullptr)
    return static_cast<int32_t>(ReadUint(key, kMax).value_or(0));
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

const Json* KeyReader::Find(std::string_view key) const { return FindKey(object_, key); }

std::optional<uint64_t> KeyReader::ReadUint(std::string_view key, uint64_t max) {
  const Json* value = Find(key);
  const uint64_t* number = value == nullptr ? nullptr : value->get_ptr<const uint64_t*>();
  if (number != nullptr && *number <= max) return *number;
  FailExpected(key, fmt::format("an integer from 0 to {}", max));
  return std::nullopt;
}

const std::string* KeyReader::ReadString(std::string_view key) {
  const Json* value = Find(key);
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
  const Json* value = Find(key);
  if (value == nullptr) {
    FailMissing(key);
  } else if (!value->is_array()) {
    FailExpected(key, "an array");
  } else {
    return value->size();
  }
  return 0;
}

const Json* KeyReader::ObjectAt(std::string_view key, size_t index) {
  const Json& element = (*Find(key))[index];
  if (element.is_object()) return &element;
  Fail(fmt::format("{}[{}]", key, index), "expected an object");
  return nullptr;
}

void KeyReader::FailMissing(std::string_view key) { Fail(key, "missing, and required here"); }

void KeyReader::FailExpected(std::string_view key, std::string_view expected) {
  const Json* value = Find(key);
  // The value found helps, if it is short enough to read.
  std::string found;
  if (value != nullptr)
    found = value->is_array() ? "an array" : value->is_object() ? "an object" : JsonText(*value);
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
