#include "formats/descriptors/descriptors.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <random>

#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "core/testing/message_text.h"
#include "formats/testing/testdata.h"

namespace ringscope::testing {
namespace {

namespace pb = google::protobuf;
using ::testing::HasSubstr;

std::string ConfigText(const std::string& config) {
  return descriptors::Text("TraceConfig", wire::AsBytes(config));
}

/// A message with some of its fields set, chosen by chance.
void FillByChance(pb::Message& message, std::mt19937& random, int depth) {
  const pb::Reflection& access = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const pb::FieldDescriptor* const field = message.GetDescriptor()->field(i);
    const bool is_message = field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE;
    if (random() % 4 == 0 || (is_message && depth > 3)) continue;
    const auto set = [&](auto one, auto add, auto value) {
      if (field->is_repeated()) return (access.*add)(&message, field, value);
      (access.*one)(&message, field, value);
    };
    using R = pb::Reflection;
    switch (field->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_INT32:
        set(&R::SetInt32, &R::AddInt32, static_cast<int32_t>(random()));
        break;
      case pb::FieldDescriptor::CPPTYPE_INT64:
        set(&R::SetInt64, &R::AddInt64, -static_cast<int64_t>(random()) * 0x10001);
        break;
      case pb::FieldDescriptor::CPPTYPE_UINT32:
        set(&R::SetUInt32, &R::AddUInt32, static_cast<uint32_t>(random()));
        break;
      case pb::FieldDescriptor::CPPTYPE_UINT64:
        set(&R::SetUInt64, &R::AddUInt64, uint64_t{random()} << 31 | random());
        break;
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        set(&R::SetDouble, &R::AddDouble, static_cast<double>(random()) / 8);
        break;
      case pb::FieldDescriptor::CPPTYPE_FLOAT:
        set(&R::SetFloat, &R::AddFloat, static_cast<float>(random() % 1000) / 8);
        break;
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        set(&R::SetBool, &R::AddBool, random() % 2 == 0);
        break;
      case pb::FieldDescriptor::CPPTYPE_ENUM: {
        const pb::EnumDescriptor& values = *field->enum_type();
        const int value = static_cast<int>(random() % static_cast<uint32_t>(values.value_count()));
        set(&R::SetEnum, &R::AddEnum, values.value(value));
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_STRING: {
        std::string value;
        for (size_t length = random() % 9; length > 0; --length)
          value += static_cast<char>(
              random() % (field->type() == pb::FieldDescriptor::TYPE_BYTES ? 256 : 128));
        if (field->is_repeated())
          access.AddString(&message, field, value);
        else
          access.SetString(&message, field, value);
        break;
      }
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        FillByChance(field->is_repeated() ? *access.AddMessage(&message, field)
                                          : *access.MutableMessage(&message, field),
                     random, depth + 1);
        break;
    }
  }
}

// Encode and Text are compared with the library's own view of the descriptors.
TEST(Descriptors, EveryMessage_AsTextAndBack) {
  pb::FileDescriptorSet set;
  const Bytes embedded = EmbeddedDescriptorSet();
  ASSERT_TRUE(set.ParseFromArray(embedded.data(), static_cast<int>(embedded.size())));
  pb::SimpleDescriptorDatabase files;
  for (const auto& file : set.file()) files.Add(file);
  pb::DescriptorPool pool(&files);
  pb::DynamicMessageFactory factory(&pool);
  std::mt19937 random(1);
  std::vector<const pb::Descriptor*> types;
  for (const auto& file : set.file())
    for (const auto& message : file.message_type())
      types.push_back(pool.FindMessageTypeByName("perfetto.protos." + message.name()));
  for (size_t i = 0; i < types.size(); ++i)
    for (int nested = 0; nested < types[i]->nested_type_count(); ++nested)
      types.push_back(types[i]->nested_type(nested));
  EXPECT_GT(types.size(), 400u);
  for (const pb::Descriptor* const type : types) {
    const std::string name = type->full_name().substr(std::string("perfetto.protos.").size());
    const std::unique_ptr<pb::Message> message(factory.GetPrototype(type)->New());
    FillByChance(*message, random, 0);
    const std::string bytes = message->SerializeAsString();
    const std::string text = descriptors::Text(name, wire::AsBytes(bytes));
    const auto encoded = descriptors::Encode(name, text, name);
    ASSERT_TRUE(encoded) << encoded.error().ToString() << "\n" << text;
    const std::unique_ptr<pb::Message> again(message->New());
    ASSERT_TRUE(again->ParseFromString(*encoded));
    EXPECT_TRUE(pb::util::MessageDifferencer::Equals(*message, *again)) << name << "\n" << text;
  }
}

TEST(Descriptors, AllConfigsOfTheCaptures_AreRead) {
  for (const std::string& file : ListTestdata("captures", ".pbtxt")) {
    const auto config = descriptors::Encode("TraceConfig", ReadTestdata(file), file);
    EXPECT_TRUE(config) << config.error().ToString();
  }
}

TEST(Descriptors, Text_NamesFieldsAndValues) {
  const std::string buffer = Uint(1, 64) + Uint(4, 2) + Uint(5, 1);
  const std::string source =
      Sub(1, Sub(1, "linux.ftrace") + Sub(100, Sub(1, "sched/sched_switch")));
  EXPECT_EQ(ConfigText(Sub(1, buffer) + Sub(2, source) + Uint(3, 10000) +
                       Sub(22, "a \"b\"\x01\n\xff") + Uint(27, UINT64_MAX)),
            "buffers {\n"
            "  size_kb: 64\n"
            "  fill_policy: DISCARD\n"
            "  transfer_on_clone: true\n"
            "}\n"
            "data_sources {\n"
            "  config {\n"
            "    name: \"linux.ftrace\"\n"
            "    ftrace_config {\n"
            "      ftrace_events: \"sched/sched_switch\"\n"
            "    }\n"
            "  }\n"
            "}\n"
            "duration_ms: 10000\n"
            "unique_session_name: \"a \\\"b\\\"\\001\\n\\377\"\n"
            "trace_uuid_msb: -1\n");
}

TEST(Descriptors, Encode_OfFieldsWithNumbers) {
  const auto encode = [](std::string_view text) {
    return descriptors::Encode("TraceConfig", text, "x");
  };
  const std::string buffer = Sub(1, Uint(1, 64));
  // A field of a known number has its number's meaning, others are left out.
  for (const char* text :
       {"buffers { size_kb: 64 900: 5 }", "buffers { 900: 5 size_kb: 64; }",
        "buffers { # 900: 6\n 900: 0x5 1: 64 }", "buffers: [{ size_kb: 64 }] 900 { 4: 5 }"})
    EXPECT_EQ(encode(text).value_or("?"), buffer) << text;
  EXPECT_THAT(encode("900: 5\n901 { 4: 5 } bogus: 1").error().ToString(), HasSubstr("x:2:"));
  for (const char* text : {"1: 'no message'", "900: 5 5", "900 {"})
    EXPECT_FALSE(encode(text)) << text;
}

TEST(Descriptors, Text_OfUnknownFieldsAndValues_HasNumbers) {
  EXPECT_EQ(
      ConfigText(Uint(900, 7) + Sub(901, "text") + Sub(902, Uint(1, 2)) + Sub(1, Uint(4, 99))),
      "buffers {\n"
      "  4: 99\n"
      "}\n"
      "900: 7\n"
      "901: \"text\"\n"
      "902 {\n"
      "  1: 2\n"
      "}\n");
}

TEST(Descriptors, Text_OfMalformedBytes_ShowsWhatPrecedes) {
  EXPECT_EQ(ConfigText(Uint(3, 1) + "\xb2\x01\x7f"),
            "duration_ms: 1\n# what follows cannot be parsed\n");
}

// A message inside a message inside ... does not exhaust the stack, known or not.
TEST(Descriptors, Depth_IsLimited) {
  std::string unknown = Uint(1, 1);
  std::string nested = Uint(1, 1);
  std::string text, numbered;
  for (int i = 0; i < 2000; ++i) {
    unknown = Sub(900, unknown);
    nested = Sub(3, nested);  // dict_values
    text += "dict_values {";
    numbered += "900 {";
  }
  EXPECT_FALSE(ConfigText(unknown).empty());
  EXPECT_THAT(descriptors::Text("DebugAnnotation.NestedValue", wire::AsBytes(nested)),
              ::testing::Not(::testing::IsEmpty()));
  EXPECT_FALSE(descriptors::Encode("DebugAnnotation.NestedValue", text, "x"));
  EXPECT_FALSE(descriptors::Encode("TraceConfig", numbered, "x"));
}

TEST(Descriptors, Encode_TakesAllOfTheTextFormat) {
  const auto config = descriptors::Encode("TraceConfig", R"(
      # a comment
      buffers { size_kb: 0x10; fill_policy: DISCARD, name: "a" 'b' }  # joined
      buffers: < size_kb: 8 fill_policy: 1 >
      data_sources: [ { config { name: "x" ftrace_config { ftrace_events: ["a", "b"] } } }, {} ]
      trace_uuid_msb: -3
      write_into_file: true)",
                                          "x");
  ASSERT_TRUE(config) << config.error().ToString();
  EXPECT_EQ(*config, Sub(1, Uint(1, 16) + Uint(4, 2) + Sub(7, "ab")) +
                         Sub(1, Uint(1, 8) + Uint(4, 1)) +
                         Sub(2, Sub(1, Sub(1, "x") + Sub(100, Sub(1, "a") + Sub(1, "b")))) +
                         Sub(2, "") + Uint(8, 1) + Uint(27, static_cast<uint64_t>(-3)));
}

TEST(Descriptors, Encode_Extensions) {
  const std::string text = "[perfetto.protos.ChromeTrackEvent.chrome_app_state]: 1";
  const auto event = descriptors::Encode("TrackEvent", text, "x");
  ASSERT_TRUE(event) << event.error().ToString();
  EXPECT_EQ(*event, Uint(1000, 1));
  EXPECT_THAT(descriptors::Text("TrackEvent", wire::AsBytes(*event)),
              HasSubstr("[perfetto.protos.ChromeTrackEvent.chrome_app_state]: "));
}

TEST(Descriptors, Encode_ErrorsNameLineColumnAndWhatWasExpected) {
  const std::pair<const char*, const char*> cases[] = {
      {"buffers {\n  size_kb: 4\n", "x:3: column 1: expected identifier, found the end"},
      {"duration_ms: 1\n}", "x:2: column 1: expected identifier, found '}'"},
      {"duration_ms 5", "x:1: column 13: expected ':', found '5'"},
      {"unique_session_name: \"open\n\"", "x:1: column 27: string literals cannot cross line"},
      {"duration_ms:", "x:1: column 13: expected integer, found the end"},
      {"duration_ms: \"5\"", "x:1: column 14: expected integer, found '5'"},
      {"buffers: [{size_kb: 1}", "x:1: column 23: expected ',', found the end"},
      {"buffers {\n\tsize_kb: many }", "x:2: column 11: expected integer, found 'many'"},
      {"# c\n  bufers { }",
       "x:2: column 3: message type 'TraceConfig' has no field named 'bufers' "
       "(did you mean 'buffers'?)"},
      {"buffers { fill_policy: DISCARDED }",
       "x:1: column 24: unknown enumeration value of 'DISCARDED' for field 'fill_policy' "
       "(this must be a TraceConfig in protobuf's text format)"},
      {"duration_ms: 1 duration_ms: 2",
       "x:1: column 16: non-repeated field 'duration_ms' is specified multiple times"},
      {"[acme.x]: 3", "x:1: column 2: extension 'acme.x' is not defined"},
      {"duration_ms: 99999999999", "x:1: column 14: integer out of range (99999999999)"},
  };
  for (const auto& [text, expected] : cases) {
    const auto config = descriptors::Encode("TraceConfig", text, "x");
    ASSERT_FALSE(config) << text;
    EXPECT_THAT(config.error().ToString(), HasSubstr(expected)) << text;
  }
}

}  // namespace
}  // namespace ringscope::testing
