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

}  // namespace ringscope
