#include "formats/draw/dot.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

TEST(Dot, Quoting_KeepsAnyText) {
  EXPECT_EQ(DotQuoted("a"), "\"a\"");
  EXPECT_EQ(DotQuoted("say \"\\N\"\nagain"), "\"say \\\"\\\\N\\\"\\nagain\"");
  EXPECT_EQ(DotQuoted("<b>&amp;"), "\"<b>&amp;\"");
}

TEST(Dot, Document) {
  DotWriter dot("g", {{"rankdir", "LR"}});
  dot.NodeDefaults({{"shape", "box"}});
  dot.BeginCluster("1", {{"label", "two\nlines"}});
  dot.Node("a", {{"label", "A"}, {"color", "#ff0000"}});
  dot.EndCluster();
  dot.Node("b", {});
  dot.Edge("a", "b", {{"label", "to"}});
  dot.SameRank("a", "b");
  EXPECT_EQ(dot.Finish(),
            "// drawn by ringscope\n"
            "digraph \"g\" {\n"
            "  rankdir=\"LR\";\n"
            "  node [shape=\"box\"];\n"
            "  subgraph \"cluster_1\" {\n"
            "    label=\"two\\nlines\";\n"
            "    \"a\" [label=\"A\", color=\"#ff0000\"];\n"
            "  }\n"
            "  \"b\";\n"
            "  \"a\" -> \"b\" [label=\"to\"];\n"
            "  {rank=same; \"a\"; \"b\"};\n"
            "}\n");
}

}  // namespace
}  // namespace ringscope
