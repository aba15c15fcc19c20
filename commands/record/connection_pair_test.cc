#include "commands/record/connection_pair.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "commands/record/consumer_tap.h"
#include "commands/testing/ipc_peer.h"
#include "commands/testing/op_list.h"

namespace ringscope {
namespace {

TEST(ConnectionPair, ThatCannotBeWatched_IsAnError) {
  const auto loop = EventLoop::Create().value();
  auto sockets = testing::MakeSocketPair();
  UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  testing::OpList log;
  Recording recording(*loop, log, [](const std::string&, int32_t) {});
  Turns turns;
  EXPECT_FALSE(ConnectionPair::Create(recording, turns, std::move(sockets.first), std::move(file),
                                      std::make_unique<ConsumerTap>(recording, PeerIdentity{}),
                                      {}));
}

}  // namespace
}  // namespace ringscope
