#ifndef RINGSCOPE_COMMANDS_REPORT_PAGE_SECTIONS_H_
#define RINGSCOPE_COMMANDS_REPORT_PAGE_SECTIONS_H_

#include <string>

#include "commands/report/page_parts.h"
#include "commands/report/page_results.h"

namespace ringscope {

// The sections, in their order. What a session does not have writes nothing.
void WriteAnswer(PageWriter& out, const PageResults& page);
void WriteFates(PageWriter& out, const PageResults& page);
void WriteTimeline(PageWriter& out, const PageResults& page);
void WriteEvictions(PageWriter& out, const PageResults& page);
void WriteGapGroups(PageWriter& out, const PageResults& page);
void WriteGapRows(PageWriter& out, const PageResults& page);
void WriteSizes(PageWriter& out, const PageResults& page);
void WriteLayouts(PageWriter& out, const PageResults& page);
void WriteSharedMemory(PageWriter& out, const PageResults& page);
void WriteStory(PageWriter& out, const PageResults& page);
void WriteFindings(PageWriter& out, const PageResults& page);
void WriteConfig(PageWriter& out, const PageResults& page);
void WriteEnvironment(PageWriter& out, const PageResults& page);

/// The whole page: less than kMaxPageBytes, whatever the session.
std::string PageHtml(const PageResults& page);
inline constexpr size_t kMaxPageBytes = 2'000'000;

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPORT_PAGE_SECTIONS_H_
