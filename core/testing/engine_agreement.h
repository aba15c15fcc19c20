#ifndef RINGSCOPE_CORE_TESTING_ENGINE_AGREEMENT_H_
#define RINGSCOPE_CORE_TESTING_ENGINE_AGREEMENT_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/testing/checked_engine.h"
#include "core/testing/written_stream.h"

namespace ringscope::testing {

/// Puts one stream through all engines at once, and checks what is true of each and what they
/// have in common. The claims are next to their checks.
class EngineAgreement {
 public:
  using Written = WrittenStream::Sequences;

  /// @param written what the stream's writers write, to hold packets to; nullptr if not known. Not
  ///   owned.
  EngineAgreement(const StreamTraits& traits, const Written* written);

  /// Applies a step to all engines. @return the claim that does not hold, and how; empty: all do
  std::string Apply(const RandomStream::Step& step);
  /// Reads all there is, after the last step of a stream whose writers have finished.
  std::string Finish();

 private:
  /// The progress of one engine in one sequence.
  struct Progress {
    std::set<WrittenStream::Place> returned;
    std::optional<WrittenStream::Place> last;
  };

  CheckedEngine& Find(const char* name);
  void Note(const RandomStream::Step& step);
  std::string CheckWritten(CheckedEngine& engine);
  std::string CheckReleases();
  std::string CheckNothingLost(CheckedEngine& engine);

  const StreamTraits traits_;
  const Written* const written_;
  std::vector<CheckedEngine> engines_;  // in the catalogue's order
  std::map<std::pair<std::string, SequenceKey>, Progress> progress_;
  std::set<std::pair<SequenceKey, ChunkId>> committed_;
  bool has_recommits_ = false;
};

/// A whole stream: `steps` of it and then, if it is a correct one, what its writers have left to
/// do.
/// @return the claim that does not hold, and how; empty: all do
std::string CheckAgreement(WrittenStream& stream, int steps);

}  // namespace ringscope::testing

#endif  // RINGSCOPE_CORE_TESTING_ENGINE_AGREEMENT_H_
