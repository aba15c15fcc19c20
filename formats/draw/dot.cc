#include "formats/draw/dot.h"

#include <fmt/format.h>

#include <utility>

#include "formats/draw/svg.h"

namespace ringscope {

std::string DotQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

DotWriter::DotWriter(std::string_view name, DotAttributes attributes) {
  out_ = fmt::format("// {}\n", kDrawnMark) + "digraph " + DotQuoted(name) + " {\n";
  GraphAttributes(attributes);
}

void DotWriter::NodeDefaults(DotAttributes attributes) { Line("node" + List(attributes)); }
void DotWriter::EdgeDefaults(DotAttributes attributes) { Line("edge" + List(attributes)); }

void DotWriter::Node(std::string_view id, DotAttributes attributes) {
  Line(DotQuoted(id) + List(attributes));
}

void DotWriter::Edge(std::string_view from, std::string_view to, DotAttributes attributes) {
  Line(DotQuoted(from) + " -> " + DotQuoted(to) + List(attributes));
}

void DotWriter::SameRank(std::string_view one, std::string_view other) {
  Line("{rank=same; " + DotQuoted(one) + "; " + DotQuoted(other) + "}");
}

void DotWriter::BeginCluster(std::string_view id, DotAttributes attributes) {
  // Graphviz draws a box only around subgraphs whose names begin so.
  out_ += indent_ + "subgraph " + DotQuoted("cluster_" + std::string(id)) + " {\n";
  indent_ = "    ";
  GraphAttributes(attributes);
}

void DotWriter::EndCluster() {
  indent_ = "  ";
  out_ += "  }\n";
}

std::string DotWriter::Finish() {
  out_ += "}\n";
  return std::move(out_);
}

void DotWriter::Line(std::string_view text) {
  out_ += indent_;
  out_ += text;
  out_ += ";\n";
}

std::string DotWriter::List(DotAttributes attributes) {
  if (attributes.size() == 0) return "";
  std::string list;
  for (const DotAttribute& attribute : attributes) {
    list += list.empty() ? " [" : ", ";
    list += attribute.name;
    list += '=';
    list += DotQuoted(attribute.value);
  }
  return list + "]";
}

void DotWriter::GraphAttributes(DotAttributes attributes) {
  for (const DotAttribute& attribute : attributes)
    Line(std::string(attribute.name) + "=" + DotQuoted(attribute.value));
}

}  // namespace ringscope
