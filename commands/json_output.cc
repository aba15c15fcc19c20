#include "commands/json_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ringscope {

Json JsonDocument(const char* name) {
  return Json{{"schema", fmt::format("ringscope.{}/1", name)}};
}

std::string JsonText(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void PrintJson(Console& console, const Json& document) { console.Print(JsonText(document)); }

}  // namespace ringscope
