// 55-56-recommit-before-evict: bytes_written is 4112 in v2@55, 1088 in v2@56.
// Expected is what v2@55 gives; v2@56 gives something else.
//
// 1:1#0 [ a1057 ]
// 1:1#0 [ b2993 ]
//
// The buffer before the last read, in bytes:
// v2@55: [ 1:1#0 3024 ] write cursor 3024
// v2@56: [ 1:1#0 1088 ] write cursor 1088
TEST_F(TraceBufferV2Test, Reproducer_5556RecommitBeforeEvict) {
  ResetBuffer(4096);
  SuppressClientDchecksForTesting();
  bool previous_packet_dropped = false;
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .AddPacket(1057, 'a')
      .CopyIntoTraceBuffer();
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .AddPacket(2993, 'b')
      .CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(2993, 'b')));
  EXPECT_TRUE(previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(4112u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(1088u, trace_buffer()->stats().bytes_overwritten());
  EXPECT_EQ(3024u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(2u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_overwritten());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_read());
  EXPECT_EQ(1u, trace_buffer()->stats().write_wrap_count());
  EXPECT_EQ(0u, trace_buffer()->stats().abi_violations());
}
