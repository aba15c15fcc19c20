#ifndef RINGSCOPE_FORMATS_DRAW_DOT_H_
#define RINGSCOPE_FORMATS_DRAW_DOT_H_

#include <initializer_list>
#include <string>
#include <string_view>

namespace ringscope {

/// An attribute of a node, an edge or a graph.
struct DotAttribute {
  std::string_view name;
  std::string value;  // any text; line breaks stay line breaks
};
using DotAttributes = std::initializer_list<DotAttribute>;

/// `text` as a quoted DOT identifier or label: quotes and backslashes escaped, line breaks as \n.
std::string DotQuoted(std::string_view text);

/// Writes a directed graph in Graphviz's DOT language.
class DotWriter {
 public:
  /// @param attributes of the graph itself
  DotWriter(std::string_view name, DotAttributes attributes);

  /// Defaults of nodes (edges).
  void NodeDefaults(DotAttributes attributes);
  void EdgeDefaults(DotAttributes attributes);
  void Node(std::string_view id, DotAttributes attributes);
  void Edge(std::string_view from, std::string_view to, DotAttributes attributes);
  /// Places both side by side.
  void SameRank(std::string_view one, std::string_view other);
  /// What follows, up to EndCluster, is in a box of its own. Clusters do not nest.
  void BeginCluster(std::string_view id, DotAttributes attributes);
  void EndCluster();

  /// Ends the graph.
  /// @return the whole document
  std::string Finish();

 private:
  void Line(std::string_view text);
  static std::string List(DotAttributes attributes);
  void GraphAttributes(DotAttributes attributes);

  std::string out_;
  std::string indent_ = "  ";
};

}  // namespace ringscope

#endif  // RINGSCOPE_FORMATS_DRAW_DOT_H_
