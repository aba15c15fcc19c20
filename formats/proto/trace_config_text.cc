#include "formats/proto/trace_config_text.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "core/base/wire.h"
#include "formats/proto/trace_config_schema.h"

namespace ringscope {
namespace {

/// Messages are nested at most this deep; what is deeper is shown as bytes.
constexpr int kDeepestConfig = 32;

struct FieldEntry {
  std::string_view name;
  std::string_view type;  // empty: of an enum's value
};
/// Fields of a message, or values of an enum, by number.
using Entries = std::map<uint64_t, FieldEntry>;
using Schema = std::map<std::string_view, Entries>;

/// Takes the text up to a character, which it drops; all of it without one.
std::string_view TakeUntil(std::string_view& text, char end) {
  const size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

std::string_view SkipSpaces(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

void ParseEntries(std::string_view items, Entries& entries) {
  while (!items.empty()) {
    std::string_view item = SkipSpaces(TakeUntil(items, ','));
    if (item.empty()) continue;
    const std::string_view number = TakeUntil(item, ' ');
    uint64_t value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    FieldEntry& entry = entries[value];
    entry.name = TakeUntil(item, ' ');
    entry.type = TakeUntil(item, ' ');
  }
}

Schema ParseSchema(std::string_view text) {
  Schema schema;
  Entries* entries = nullptr;
  while (!text.empty()) {
    std::string_view line = TakeUntil(text, '\n');
    if (line.empty()) continue;
    if (line.front() != ' ') entries = &schema[TakeUntil(line, ':')];
    ParseEntries(line, *entries);
  }
  return schema;
}

const Entries* FindEntries(const Schema& schema, std::string_view name) {
  const auto found = schema.find(name);
  return found == schema.end() ? nullptr : &found->second;
}

std::string Quoted(Bytes bytes) {
  std::string text = "\"";
  for (const uint8_t byte : bytes) {
    const char c = static_cast<char>(byte);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte == '\n') {
      text += "\\n";
    } else if (byte < 0x20 || byte >= 0x7F) {
      text += fmt::format("\\{:03o}", byte);
    } else {
      text += c;
    }
  }
  return text + "\"";
}

/// Whether all of it can be read as fields.
bool IsMessage(Bytes bytes) {
  wire::FieldReader fields(bytes);
  while (fields.Next()) {
  }
  return fields.ok();
}

bool IsPrintable(Bytes bytes) {
  for (const uint8_t byte : bytes)
    if (byte < 0x20 || byte >= 0x7F) return false;
  return true;
}

class Printer {
 public:
  void Message(Bytes message, const Entries* fields, int depth) {
    wire::FieldReader reader(message);
    while (const auto field = reader.Next()) {
      const FieldEntry* entry = nullptr;
      if (fields != nullptr) {
        const auto found = fields->find(field->number);
        if (found != fields->end()) entry = &found->second;
      }
      PrintField(*field, entry, depth);
    }
    if (!reader.ok()) Line(depth, "# what follows cannot be parsed");
  }
  std::string Take() { return std::move(text_); }

 private:
  void Line(int depth, std::string_view line) {
    text_.append(static_cast<size_t>(depth) * 2, ' ');
    text_ += line;
    text_ += '\n';
  }

  void PrintField(const wire::Field& field, const FieldEntry* entry, int depth) {
    const std::string name =
        entry != nullptr ? std::string(entry->name) : std::to_string(field.number);
    const std::string_view type = entry != nullptr ? entry->type : std::string_view();
    if (field.type != wire::Type::kBytes) {
      Line(depth, fmt::format("{}: {}", name, Number(field, type)));
      return;
    }
    const Entries* const nested = FindEntries(messages_, type);
    const bool is_text = type == "s" || type == "y";
    // Of a field that is not known, bytes that can be a text are one.
    const bool looks_nested =
        entry == nullptr && !IsPrintable(field.bytes) && IsMessage(field.bytes);
    if (depth < kDeepestConfig && !is_text && (nested != nullptr || looks_nested)) {
      Line(depth, name + " {");
      Message(field.bytes, nested, depth + 1);
      Line(depth, "}");
    } else {
      Line(depth, fmt::format("{}: {}", name, Quoted(field.bytes)));
    }
  }

  std::string Number(const wire::Field& field, std::string_view type) const {
    if (type == "b" && field.type == wire::Type::kVarint)
      return field.value != 0 ? "true" : "false";
    if (type == "i") return std::to_string(static_cast<int64_t>(field.value));
    if (type == "z")
      return std::to_string(static_cast<int64_t>(field.value >> 1 ^ (0 - (field.value & 1))));
    if (type == "d" && field.type == wire::Type::kFixed64)
      return fmt::format("{}", std::bit_cast<double>(field.value));
    if (type == "f" && field.type == wire::Type::kFixed32)
      return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(field.value)));
    if (const Entries* const values = FindEntries(enums_, type)) {
      const auto value = values->find(field.value);
      if (value != values->end()) return std::string(value->second.name);
    }
    return std::to_string(field.value);
  }

 public:
  const Entries* Root(std::string_view message) const { return FindEntries(messages_, message); }

 private:
  const Schema messages_ = ParseSchema(kTraceConfigMessages);
  const Schema enums_ = ParseSchema(kTraceConfigEnums);
  std::string text_;
};

std::string Print(Bytes message, std::string_view type) {
  Printer printer;
  printer.Message(message, printer.Root(type), 0);
  return printer.Take();
}

}  // namespace

std::string TraceConfigText(Bytes config) { return Print(config, "TraceConfig"); }
std::string DataSourceConfigText(Bytes config) { return Print(config, "DataSourceConfig"); }

std::string CloneSessionText(Bytes request) { return Print(request, "CloneSessionRequest"); }

}  // namespace ringscope
