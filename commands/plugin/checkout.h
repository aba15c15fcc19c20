#ifndef RINGSCOPE_COMMANDS_PLUGIN_CHECKOUT_H_
#define RINGSCOPE_COMMANDS_PLUGIN_CHECKOUT_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace ringscope::adapter {

/// A Perfetto checkout, v53 or later.
struct Checkout {
  /// kNotFound if this is none, with what is missing.
  /// @param name of the folder in messages
  static Result<Checkout> Open(const std::string& folder, const std::string& name);

  std::string folder;
  bool has_v2 = false;

  /// The sources that the buffers need, with those that a build folder generated.
  std::vector<std::string> Sources(const std::string& build_folder) const;
};

/// A folder of a GN build, for its generated headers at least.
struct BuildFolder {
  /// @param given a folder; empty: the newest below `out` in the checkout
  /// kNotFound if there is none with generated headers.
  static Result<BuildFolder> Find(const Checkout& checkout, const std::string& given);

  std::string folder;
  bool is_debug = true;
  std::vector<std::string> to_link;  // an archive, or objects; empty: neither is whole
  bool has_other_library = false;    // these are for another C++ library than the system's
  bool is_stale = false;             // these are older than the buffers' sources
};

/// What to run in a checkout so that there is a build folder: gn's arguments, and the targets that
/// generate the headers.
extern const char* const kGnArguments;
std::vector<std::string> HeaderTargets(const Checkout& checkout);

}  // namespace ringscope::adapter

#endif  // RINGSCOPE_COMMANDS_PLUGIN_CHECKOUT_H_
