#ifndef RINGSCOPE_COMMANDS_REPORT_PAGE_TEMPLATE_H_
#define RINGSCOPE_COMMANDS_REPORT_PAGE_TEMPLATE_H_

#include <string_view>

namespace ringscope {

/// The page of 'ringscope report' (page.html), with places {{title}}, {{nonce}}, {{answers}},
/// {{gaps}} and {{data}}.
std::string_view PageTemplate();

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPORT_PAGE_TEMPLATE_H_
