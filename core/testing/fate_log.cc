#include "core/testing/fate_log.h"

namespace ringscope::testing {

void FateLog::OnPacketFate(const PacketAccount& account) {
  ++fates[account.fate];
  ++causes[account.cause];
  accounts[{account.buffer, account.sequence, account.first_chunk, account.first_offset}].push_back(
      account);
}

void CuriousFateLog::OnChunkWritten(BufferId, WrittenCommit& written) {
  for (size_t i = 0; i < written.chunk().fragments.size(); ++i) written.PacketAt(i);
}

}  // namespace ringscope::testing
