#ifndef RINGSCOPE_FORMATS_JSON_JSON_H_
#define RINGSCOPE_FORMATS_JSON_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"

/// An absent optional is null.
template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  template <typename Document>
  static void to_json(Document& json, const std::optional<T>& value) {
    if (value)
      json = *value;
    else
      json = nullptr;
  }
};

namespace ringscope {

/// A JSON document. Keys stay in the order in which they are added.
using Json = nlohmann::ordered_json;

/// Returns a document as text, with replacement characters for bytes that are not UTF-8.
std::string JsonText(const Json& document, int indent = -1);

/// Returns the place of a key like "written.packets": `json[KeyPath(key)] = value`.
Json::json_pointer KeyPath(std::string key);

/// Appends `text`, which must be UTF-8, as a JSON string with its quotes.
void AppendJsonString(std::string& out, std::string_view text);

/// Appends one JSON object to a string, key by key. Keys are ASCII without anything to escape.
class JsonObjectWriter {
 public:
  explicit JsonObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

  void Uint(std::string_view key, uint64_t value);
  void Int(std::string_view key, int64_t value);
  void Uints(std::string_view key, const std::vector<uint64_t>& values);
  void Bool(std::string_view key, bool value);
  /// Text of a known set: written without looking for anything to escape.
  void Name(std::string_view key, std::string_view value);
  /// Any text; if it is not UTF-8, as hex under the key with "_hex" appended.
  void Text(std::string_view key, std::string_view value);
  void Hex(std::string_view key, Bytes value);
  /// An array of objects: calls `write(JsonObjectWriter&, element)` for each element.
  template <typename List, typename F>
  void Objects(std::string_view key, const List& list, F write) {
    Key(key);
    out_ += '[';
    bool first = true;
    for (const auto& element : list) {
      if (!first) out_ += ',';
      first = false;
      JsonObjectWriter entry(out_);
      write(entry, element);
      entry.Close();
    }
    out_ += ']';
  }
  /// The key alone; the caller appends the value.
  void Key(std::string_view key);
  void Close() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_JSON_JSON_H_
