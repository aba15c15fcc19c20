#include "formats/testing/parsed_json.h"

#include <sstream>
#include <string>

namespace ringscope::testing {

Json ParsedJson(std::string_view text) { return Json::parse(text); }

std::vector<Json> ParsedJsonLines(std::string_view text) {
  std::vector<Json> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(ParsedJson(line));
  return lines;
}

}  // namespace ringscope::testing
