#include "formats/json_writer.h"

#include <fmt/format.h>

#include <iterator>

#include "core/wire.h"
#include "formats/hex.h"

namespace ringscope {
namespace {

/// Length of the UTF-8 sequence that `text` begins with; 0: it is none.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // a longer form than needed
  if (lead == 0xED && byte(1) > 0x9F) return 0;  // a surrogate
  if (lead == 0xF0 && byte(1) < 0x90) return 0;  // a longer form than needed
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;  // behind U+10FFFF
  return length;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
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
  const fmt::format_int digits(value);
  out_.append(digits.data(), digits.size());
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
