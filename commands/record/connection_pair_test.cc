#include "commands/record/connection_pair.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "commands/testing/ipc_peer.h"

namespace ringscope {
namespace {

/// Passes nothing on.
class NoTap : public Tap {
 public:
  bool CarriesDescriptor(const ipc::Frame&) const override { return false; }
  Status FromClient(PassingFrame&&, FrameSocket&) override { return {}; }
  Status FromService(PassingFrame&&, FrameSocket&) override { return {}; }
  void OnDisconnect(FrameSocket*) override {}
  bool WantsScrape() const override { return false; }
  void Scrape(FrameSocket&) override {}
  bool CausesScrapes(const ipc::Frame&) const override { return false; }
  bool MayPass() const override { return true; }
  bool HoldsServiceFrames() const override { return false; }
  bool NeedsConfirmation() const override { return false; }
  bool MustConfirm() const override { return false; }
  bool AskConfirmation(FrameSocket&) override { return false; }
  bool TakeConfirmed() override { return false; }
  bool HasSession() const override { return false; }
  std::string Describe() const override { return "client"; }
};

TEST(ConnectionPair, ThatCannotBeWatched_IsAnError) {
  const auto loop = EventLoop::Create().value();
  auto sockets = testing::MakeSocketPair();
  UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  Turns turns;
  EXPECT_FALSE(ConnectionPair::Create(*loop, turns, std::move(sockets.first), std::move(file),
                                      std::make_unique<NoTap>(), {}));
}

}  // namespace
}  // namespace ringscope
