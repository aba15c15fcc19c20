# Makes the header of the field numbers and enumerators of .proto files: a struct for each message and
# enum, nested as these are, with a constant for each field: kTargetBuffer of target_buffer; and the
# names of TracePacket's fields.
function camel(name, words, count, i, text) {
  count = split(tolower(name), words, "_")
  for (i = 1; i <= count; i++) text = text toupper(substr(words[i], 1, 1)) substr(words[i], 2)
  return "k" text
}
BEGIN {
  print "#ifndef RINGSCOPE_CORE_PERFETTO_FIELDS_H_\n#define RINGSCOPE_CORE_PERFETTO_FIELDS_H_\n"
  print "#pragma GCC system_header  // nested messages have fields with the names of outer ones"
  print "#include <cstdint>\n#include <utility>\n\nnamespace ringscope::proto {"
}
{
  sub(/\/\/.*/, "")
  if ($1 ~ /^(message|enum|oneof|extend)$/) {
    kind[++depth] = $1
    type[depth] = $2
    constants[depth] = structs[depth] = ""
  } else if (depth > 0 && match($0, /[A-Za-z0-9_]+ *= *(0x[0-9a-f]+|[0-9]+)/) && $1 !~ /^(reserved|extensions|option)$/) {
    split(substr($0, RSTART, RLENGTH), field, / *= */)
    owner = depth
    while (kind[owner] == "oneof") owner--
    if (kind[owner] == "message" && type[owner] == "TracePacket")
      names = names " {" field[2] ", \"" field[1] "\"},"
    if (kind[owner] != "extend") constants[owner] = constants[owner] " " camel(field[1]) " = " field[2] ","
  }
  closed = gsub(/}/, "")
  while (closed-- > 0) {
    if (kind[depth] ~ /message|enum/) {
      text = "struct " type[depth] " {"
      if (constants[depth] != "") text = text " enum : uint32_t {" constants[depth] " };"
      text = text structs[depth] " };"
      if (depth == 1) print text
      else structs[depth - 1] = structs[depth - 1] "\n" text
    } else if (depth > 1) {
      structs[depth - 1] = structs[depth - 1] structs[depth]
    }
    depth--
  }
}
END {
  print "inline constexpr std::pair<uint32_t, const char*> kTracePacketFields[] = {" names " };"
  print "}  // namespace ringscope::proto\n\n#endif  // RINGSCOPE_CORE_PERFETTO_FIELDS_H_"
}
