// 57-58-relocates-completed-chunk: packet 1:1#0+0 (1 bytes): loss bits present
// from v1, none from v2@58.
// Expected is what v1 gives; v2@58 gives something else.
//
// 1:1#0 [ a2 ]
//
// The buffer before the last read, in bytes:
// v1: [ 1:1#0 32 ] write cursor 32
// v2@58: [ 1:1#0 32 ] write cursor 32
TEST_F(TraceBufferTest, Reproducer_5758RelocatesCompletedChunk) {
  ResetBuffer(4096);
  uint32_t previous_packet_dropped = 0;
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .AddPacket(2, 'a')
      .CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(2, 'a')));
  EXPECT_EQ(1u, previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(32u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(32u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_read());
}
