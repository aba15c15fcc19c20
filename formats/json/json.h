#ifndef RINGSCOPE_FORMATS_JSON_JSON_H_
#define RINGSCOPE_FORMATS_JSON_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

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

/// Returns the value of a key, or nullptr if `json` is no object or has no such key.
const Json* FindKey(const Json& json, std::string_view key);

/// Returns the place of a key like "written.packets": `json[KeyPath(key)] = value`.
Json::json_pointer KeyPath(std::string key);

inline constexpr size_t kMaxJsonDepth = 32;
inline constexpr size_t kMaxJsonValues = size_t{1} << 20;

/// Parses a JSON text with limits of levels and values. Errors name the byte, from 1.
Result<Json> ParseJson(std::string_view text, size_t max_values = kMaxJsonValues);

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_JSON_JSON_H_
