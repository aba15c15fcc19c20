#ifndef RINGSCOPE_COMMANDS_JSON_OUTPUT_H_
#define RINGSCOPE_COMMANDS_JSON_OUTPUT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "commands/console.h"

namespace ringscope {

/// Keys stay in the order in which they are added.
using Json = nlohmann::ordered_json;

/// A document that names its schema: "ringscope.NAME/1".
Json JsonDocument(const char* name);
/// A document as text, indented. Text that is not UTF-8 gets replacement characters.
std::string JsonText(const Json& document);
/// Writes a document as a result, indented. Text that is not UTF-8 gets replacement characters.
void PrintJson(Console& console, const Json& document);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_JSON_OUTPUT_H_
