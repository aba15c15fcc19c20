#ifndef RINGSCOPE_COMMANDS_VIEW_JSON_H_
#define RINGSCOPE_COMMANDS_VIEW_JSON_H_

#include <string>
#include <string_view>

#include "formats/json/json.h"

namespace ringscope {

/// A document that names its schema: "ringscope.NAME/1".
inline Json JsonDocument(std::string_view name) {
  return {{"schema", "ringscope." + std::string(name) + "/1"}};
}

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VIEW_JSON_H_
