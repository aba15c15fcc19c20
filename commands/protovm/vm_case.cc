#include "commands/protovm/vm_case.h"

#include "formats/io/hex.h"
#include "formats/json/json.h"
#include "formats/json/json_keys.h"

namespace ringscope {
namespace {

constexpr size_t kMaxCaseBytes = size_t{64} << 20;

}  // namespace

Result<VmCase> ParseVmCase(std::string_view text, const std::string& path) {
  auto read = ParseJson(text);
  if (!read) {
    read.error().where.path = path;
    return tl::unexpected<Error>(std::move(read).error());
  }
  const Json& json = *read;
  if (!json.is_object())
    return Fail(ErrorCode::kCorrupt, "a case is a JSON object", {path, {}, {}},
                "with program, packets, and memory_limit_bytes or memory_limit_kb");
  VmCase parsed;
  KeyReader keys(json);
  keys.Hex("program", kMaxCaseBytes, parsed.program);
  if (keys.Has("initial_state")) keys.Hex("initial_state", kMaxCaseBytes, parsed.initial_state);
  parsed.limit = keys.Has("memory_limit_kb")
                     ? protovm::LimitBytes(keys.Uint<uint64_t>("memory_limit_kb"))
                     : keys.Uint<uint64_t>("memory_limit_bytes");
  const Json* const packets = json.Find("packets");
  if (packets == nullptr || !packets->is_array()) {
    keys.FailExpected("packets", "an array of hex digits");
  } else {
    for (const Json& packet : packets->items()) {
      const auto* const hex = packet.If<std::string>();
      if (hex == nullptr || !DecodeHex(*hex, parsed.packets.emplace_back()))
        keys.FailExpected("packets", "an array of hex digits");
    }
  }
  if (!keys.status()) {
    Error error = keys.status().error();
    error.where.path = path;
    return tl::unexpected<Error>(std::move(error));
  }
  return parsed;
}

}  // namespace ringscope
