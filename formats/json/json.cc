#include "formats/json/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/base/wire.h"
#include "formats/io/hex.h"

namespace ringscope {

std::string JsonText(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json::json_pointer KeyPath(std::string key) {
  std::replace(key.begin(), key.end(), '.', '/');
  return Json::json_pointer("/" + key);
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
