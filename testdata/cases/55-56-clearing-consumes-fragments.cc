// 55-56-clearing-consumes-fragments: bytes_overwritten is 1984 in v2@55, 2192
// in v2@56.
// Expected is what v2@55 gives; v2@56 gives something else.
//
// 1:1#0 [ a1953-> ]
// 1:1#1 [ ->b177 ]
// 1:2#0 [ c1889 ]
//
// The buffer before the last read, in bytes:
// v2@55: [ 1:2#0 1920 ][ padding 64 ][ 1:1#1 208 177 read ] write cursor 1920
// v2@56: [ 1:2#0 1920 ][ padding 64 ][ 1:1#1 208 177 read ] write cursor 1920
TEST_F(TraceBufferV2Test, Reproducer_5556ClearingConsumesFragments) {
  ResetBuffer(4096);
  bool previous_packet_dropped = false;
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .AddPacket(1953, 'a', kContOnNextChunk)
      .CopyIntoTraceBuffer();
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(1))
      .AddPacket(177, 'b', kContFromPrevChunk)
      .CopyIntoTraceBuffer();
  CreateChunk(ProducerID(1), WriterID(2), ChunkID(0))
      .AddPacket(1889, 'c')
      .CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(1889, 'c')));
  EXPECT_FALSE(previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(4112u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(1984u, trace_buffer()->stats().bytes_overwritten());
  EXPECT_EQ(1920u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(64u, trace_buffer()->stats().padding_bytes_written());
  EXPECT_EQ(3u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_overwritten());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_read());
  EXPECT_EQ(1u, trace_buffer()->stats().write_wrap_count());
  EXPECT_EQ(1u, trace_buffer()->stats().readaheads_succeeded());
}
