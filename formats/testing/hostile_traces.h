#ifndef RINGSCOPE_FORMATS_TESTING_HOSTILE_TRACES_H_
#define RINGSCOPE_FORMATS_TESTING_HOSTILE_TRACES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ringscope::testing {

/// Traces that are made to exhaust their reader: small files that unpack to much, sizes that no
/// file has, and packets that are all names, clocks, sequences or buffers.
class HostileTraces {
 public:
  struct Case {
    const char* name;
    std::function<std::string()> make;  // the bytes of the file
  };

  /// A packet of its own before and after what is hostile: both can be read.
  static constexpr uint64_t kGoodPackets = 2;

  static std::vector<Case> All();
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_HOSTILE_TRACES_H_
