#include "commands/report/page_template.h"

// The assembler copies the file into the program.
asm(".pushsection .rodata\n"
    ".global rs_page\n"
    ".global rs_page_end\n"
    "rs_page:\n"
    ".incbin \"" RS_PAGE
    "\"\n"
    "rs_page_end:\n"
    ".popsection\n");

extern "C" const char rs_page[];
extern "C" const char rs_page_end[];

namespace ringscope {

std::string_view PageTemplate() { return {rs_page, static_cast<size_t>(rs_page_end - rs_page)}; }

}  // namespace ringscope
