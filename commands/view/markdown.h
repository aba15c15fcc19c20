#ifndef RINGSCOPE_COMMANDS_VIEW_MARKDOWN_H_
#define RINGSCOPE_COMMANDS_VIEW_MARKDOWN_H_

#include <string>
#include <string_view>

namespace ringscope {

/// Text that Markdown shows as it is: what would be its markup is escaped, line ends are spaces.
std::string MarkdownText(std::string_view text);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_VIEW_MARKDOWN_H_
