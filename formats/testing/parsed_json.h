#ifndef RINGSCOPE_FORMATS_TESTING_PARSED_JSON_H_
#define RINGSCOPE_FORMATS_TESTING_PARSED_JSON_H_

#include <string_view>
#include <vector>

#include "formats/json/json.h"

namespace ringscope::testing {

/// The document that a command printed. Text that is no JSON throws, which fails the test.
Json ParsedJson(std::string_view text);

/// One document for each line.
std::vector<Json> ParsedJsonLines(std::string_view text);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_PARSED_JSON_H_
