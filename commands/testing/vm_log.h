#ifndef RINGSCOPE_COMMANDS_TESTING_VM_LOG_H_
#define RINGSCOPE_COMMANDS_TESTING_VM_LOG_H_

#include <fmt/format.h>

#include <string>

#include "core/base/wire.h"
#include "core/testing/protovm_dsl.h"
#include "formats/io/hex.h"

namespace ringscope::testing {

/// Copies a patch's text (900.6.1) to the state's (900.7.1).
inline std::string CopyProgram(uint32_t version = 1) {
  return vm::ProgramOf(
      {vm::SelectSrc({vm::Field(900), vm::Field(6), vm::Field(1)},
                     {vm::SelectDst({vm::Field(900), vm::Field(7), vm::Field(1)}, {vm::Set()})})},
      version);
}

inline constexpr uint32_t kLimitKb = 16;

/// A log of a session with a buffer of 4 KiB, into which three patches of 1 KiB go.
class VmLog {
 public:
  explicit VmLog(const std::string& engine = "v2@58") {
    Line(R"("op":"session_start","session":1)");
    Line(fmt::format(
        R"("op":"buffer","id":1,"size":4096,"policy":"ring_buffer","engine":"{}","session":1)",
        engine));
  }
  /// A producer registers a data source, which is set up in buffer 1.
  VmLog& Source(int producer, const std::string& program,
                const std::string& config = vm::Sub(12, vm::Uint(1, kLimitKb))) {
    Line(fmt::format(
        R"("op":"data_source","producer":{},"name":"source"{})", producer,
        program.empty() ? "" : fmt::format(R"(,"protovm_program":"{}")", HexOf(program))));
    Line(fmt::format(R"("op":"data_source_setup","producer":{0},"instance":{0},"name":"source",)"
                     R"("buffer":1,"session":1,"config":"{1}")",
                     producer, HexOf(config)));
    return *this;
  }
  /// A patch whose text repeats this character.
  VmLog& Patch(int producer, char text) {
    const std::string packet = vm::Sub(900, vm::Sub(6, vm::Sub(1, std::string(1100, text))));
    std::string payload;
    wire::AppendVarint(payload, packet.size());
    payload += packet;
    return Line(fmt::format(R"("op":"commit","buffer":1,"producer":{},"writer":1,"chunk":{},)"
                            R"("fragments":1,"payload":"{}")",
                            producer, chunk_++, HexOf(payload)));
  }
  VmLog& Patches(int producer, const std::string& texts) {
    for (const char text : texts) Patch(producer, text);
    return *this;
  }
  VmLog& Line(const std::string& members) {
    text_ += "{" + members + "}\n";
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  static std::string HexOf(const std::string& bytes) {
    std::string hex;
    AppendHex(hex, wire::AsBytes(bytes));
    return hex;
  }

  std::string text_;
  uint32_t chunk_ = 0;
};

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_VM_LOG_H_
