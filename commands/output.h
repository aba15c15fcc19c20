#ifndef RINGSCOPE_COMMANDS_OUTPUT_H_
#define RINGSCOPE_COMMANDS_OUTPUT_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands/context.h"
#include "formats/byte_stream.h"

namespace ringscope {

using Json = nlohmann::ordered_json;

/// A file that appears once it is whole, or for "-" the run's standard output.
/// @param binary refuses a terminal
Result<std::unique_ptr<OutputFile>> CreateOutput(Context& context, const std::string& path,
                                                 bool binary);

/// A document that names its schema: "ringscope.NAME/1".
Json JsonDocument(const char* name);
/// A document as text, indented. Text that is not UTF-8 gets replacement characters.
std::string JsonText(const Json& document);
/// Writes a document as a result, indented. Text that is not UTF-8 gets replacement characters.
void PrintJson(Console& console, const Json& document);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_OUTPUT_H_
