#include "core/op.h"

#include <array>

namespace ringscope {
namespace {

constexpr std::array<const char*, kOpKinds> kKindNames = {
    "header",           "session_start", "session_end",
    "config",           "buffer",        "buffer_freed",
    "clock_snapshot",   "producer",      "smb",
    "disconnect",       "data_source",   "data_source_setup",
    "data_source_stop", "writer",        "writer_gone",
    "commit",           "flush",         "flush_done",
    "flush_timeout",    "read",          "clone_read",
    "recorder_gap",     "note"};
constexpr std::array<const char*, 2> kPolicyNames = {"ring_buffer", "discard"};
constexpr std::array<const char*, 6> kOriginNames = {"imported", "shm",       "inline",
                                                     "scraped",  "synthetic", "estimated"};
constexpr std::array<const char*, 4> kReasonNames = {"unknown", "consumer", "file", "final"};

template <typename E, size_t N>
std::optional<E> FromName(const std::array<const char*, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (name == names[i]) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace

const char* OpKindName(size_t kind) { return kKindNames.at(kind); }
const char* Name(FillPolicy policy) { return kPolicyNames.at(static_cast<size_t>(policy)); }
const char* Name(Origin origin) { return kOriginNames.at(static_cast<size_t>(origin)); }
const char* Name(ReadReason reason) { return kReasonNames.at(static_cast<size_t>(reason)); }
std::optional<FillPolicy> FillPolicyFromName(std::string_view name) {
  return FromName<FillPolicy>(kPolicyNames, name);
}
std::optional<Origin> OriginFromName(std::string_view name) {
  return FromName<Origin>(kOriginNames, name);
}
std::optional<ReadReason> ReadReasonFromName(std::string_view name) {
  return FromName<ReadReason>(kReasonNames, name);
}

}  // namespace ringscope
