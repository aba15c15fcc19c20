#ifndef RINGSCOPE_COMMANDS_SVG_STYLE_H_
#define RINGSCOPE_COMMANDS_SVG_STYLE_H_

namespace ringscope {

/// The look of all pictures: colours that can be told apart, also by those who do not see red and
/// green, on light and on dark ground. Tones have classes of their own: "good", "lost", ...
inline constexpr const char* kSvgStyle = R"(
svg { --page: #ffffff; --ink: #1c1e21; --soft: #5b6168; --line: #b6bcc4; --card: #f6f7f9;
  --good: #3f8f5b; --unread: #2f7ed8; --waiting: #c79a00; --partly: #e0781e; --lost: #cc3340;
  --unknown: #8a9099; --s0: #2f7ed8; --s1: #e0781e; --s2: #3f8f5b; --s3: #a55fc4; --s4: #c79a00;
  --s5: #cc3340; --s6: #1d9aa8; --s7: #8c6239; --s8: #d4579b; --s9: #6b7280; }
@media (prefers-color-scheme: dark) {
  svg { --page: #16181c; --ink: #e8eaed; --soft: #a3abb5; --line: #4d545e; --card: #22262c;
    --good: #5dbb7e; --unread: #5aa2f0; --waiting: #e3bb3a; --partly: #f0964a; --lost: #f2616c;
    --unknown: #8a9099; }
}
.page { fill: var(--page); }
text { font-family: "DejaVu Sans", Verdana, Helvetica, Arial, sans-serif; font-size: 11px;
  fill: var(--ink); white-space: pre; }
text.title { font-size: 17px; font-weight: bold; }
text.heading { font-size: 14px; font-weight: bold; }
text.id { font-size: 12px; font-weight: bold; }
text.soft { fill: var(--soft); }
text.small { font-size: 10px; }
text.right { text-anchor: end; }
text.lost { fill: var(--lost); }
.card { fill: var(--card); stroke: var(--line); }
.gap { fill: none; stroke: var(--lost); stroke-dasharray: 5 4; }
.good { fill: var(--good); }
.unread { fill: var(--unread); }
.waiting { fill: var(--waiting); }
.partly { fill: var(--partly); }
.lost { fill: var(--lost); }
.unknown { fill: var(--unknown); }
.none { fill: var(--line); }
line, path { stroke: var(--line); stroke-width: 1; fill: none; }
.link-read { stroke: var(--good); stroke-width: 3; }
.link-continues { stroke: var(--soft); stroke-width: 3; }
.link-torn { stroke: var(--lost); stroke-width: 3; stroke-dasharray: 4 3; }
.pushed { stroke: var(--lost); stroke-width: 1.5; }
.s0 { fill: var(--s0); }
.s1 { fill: var(--s1); }
.s2 { fill: var(--s2); }
.s3 { fill: var(--s3); }
.s4 { fill: var(--s4); }
.s5 { fill: var(--s5); }
.s6 { fill: var(--s6); }
.s7 { fill: var(--s7); }
.s8 { fill: var(--s8); }
.s9 { fill: var(--s9); }
.consumed { opacity: 0.3; }
.padding { fill: var(--line); opacity: 0.5; }
.unused { fill: var(--card); }
.cursor { stroke: var(--ink); stroke-width: 2; }
.edge { stroke: var(--page); stroke-width: 1; }
)";

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SVG_STYLE_H_
