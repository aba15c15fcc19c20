#include "commands/report/page_sources.h"

// The assembler copies the files into the program, as it does with the descriptors.
asm(".pushsection .rodata\n"
    ".global rs_page_css\n"
    ".global rs_page_css_end\n"
    ".global rs_page_js\n"
    ".global rs_page_js_end\n"
    "rs_page_css:\n"
    ".incbin \"" RS_PAGE_CSS
    "\"\n"
    "rs_page_css_end:\n"
    "rs_page_js:\n"
    ".incbin \"" RS_PAGE_JS
    "\"\n"
    "rs_page_js_end:\n"
    ".popsection\n");

extern "C" const char rs_page_css[];
extern "C" const char rs_page_css_end[];
extern "C" const char rs_page_js[];
extern "C" const char rs_page_js_end[];

namespace ringscope {

std::string_view PageStyleSheet() {
  return {rs_page_css, static_cast<size_t>(rs_page_css_end - rs_page_css)};
}

std::string_view PageScript() {
  return {rs_page_js, static_cast<size_t>(rs_page_js_end - rs_page_js)};
}

}  // namespace ringscope
