#ifndef RINGSCOPE_COMMANDS_REPORT_PAGE_SOURCES_H_
#define RINGSCOPE_COMMANDS_REPORT_PAGE_SOURCES_H_

#include <string_view>

namespace ringscope {

// page.css and page.js, as they are in this folder.

std::string_view PageStyleSheet();
std::string_view PageScript();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPORT_PAGE_SOURCES_H_
