#ifndef RINGSCOPE_CORE_BASE_RESULT_H_
#define RINGSCOPE_CORE_BASE_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace ringscope {

enum class ErrorCode {
  kUsage,        // the caller asked for something that cannot be (exit status 2)
  kIo,           // the operating system refused: open, read, write, rename
  kCorrupt,      // the input breaks its format
  kUnsupported,  // valid, but of a version or kind that this build does not know
  kLimit,        // a bound that protects memory or time was exceeded
  kNotFound,     // what is to be used is not there, or not yet
  kDied,         // a plug-in's process ended, or had to be ended: a finding (exit status 3)
};

/// A place in an input. Each part may be absent.
struct Where {
  std::string path;                // file name as the user gave it; "-" for standard input
  std::optional<uint64_t> offset;  // bytes from the file's start
  std::optional<uint64_t> line;    // 1-based, for text inputs
};

/// An error: the problem, its place, what was expected, and what the user can do about it.
struct Error {
  ErrorCode code = ErrorCode::kIo;
  std::string message;  // what and what was expected; no trailing full stop
  Where where;
  std::string hint;  // what to do; may be empty

  /// One line for a person: `path:line: message (hint)` or `path: at byte N: message (hint)`.
  std::string ToString() const {
    std::string text = where.path;
    if (where.line) text += (text.empty() ? "line " : ":") + std::to_string(*where.line);
    if (!text.empty()) text += ": ";
    if (where.offset) text += "at byte " + std::to_string(*where.offset) + ": ";
    return text + message + (hint.empty() ? "" : " (" + hint + ")");
  }
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message, Where where = {},
                                  std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(where), std::move(hint)});
}

/// For std::visit: one lambda per alternative.
template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace ringscope

#define RS_CONCAT_INNER_(a, b) a##b
#define RS_CONCAT_(a, b) RS_CONCAT_INNER_(a, b)

/// Returns the error of `expression` (a Result or Status) from the enclosing function, if it is
/// one.
#define RS_RETURN_IF_ERROR(expression)                                           \
  do {                                                                           \
    if (auto rs_status = (expression); !rs_status) [[unlikely]]                  \
      return ::tl::unexpected<::ringscope::Error>(std::move(rs_status).error()); \
  } while (false)

/// Declares or assigns `target` from the value of `expression`, or returns its error.
#define RS_ASSIGN_OR_RETURN(target, expression) \
  RS_ASSIGN_OR_RETURN_(RS_CONCAT_(rs_result_, __LINE__), target, expression)
#define RS_ASSIGN_OR_RETURN_(result, target, expression)                    \
  auto result = (expression);                                               \
  if (!result) [[unlikely]]                                                 \
    return ::tl::unexpected<::ringscope::Error>(std::move(result).error()); \
  target = std::move(*result)

#endif  // RINGSCOPE_CORE_BASE_RESULT_H_
