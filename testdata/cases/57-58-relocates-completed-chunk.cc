// 57-58-relocates-completed-chunk: the engines differ. Expected is what v1
// gives; v2@58 gives something else.
TEST_F(TraceBufferTest, Reproducer_57_58_relocates_completed_chunk) {
  ResetBuffer(4096);
  uint32_t previous_packet_dropped = 0;
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0)).AddPacket(21, 'a')
      .AddPacket(4, 'b').CopyIntoTraceBuffer(/*chunk_complete=*/false);

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(21, 'a')));
  EXPECT_EQ(1u, previous_packet_dropped);  // present
  ASSERT_THAT(ReadPacket(), IsEmpty());
  CreateChunk(ProducerID(1), WriterID(2), ChunkID(0)).AddPacket(3002, 'c')
      .CopyIntoTraceBuffer();
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0)).AddPacket(21, 'a')
      .AddPacket(4, 'b').CopyIntoTraceBuffer();
  CreateChunk(ProducerID(1), WriterID(2), ChunkID(1)).AddPacket(1502, 'd')
      .CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(1502, 'd')));
  EXPECT_EQ(1u, previous_packet_dropped);  // present
  ASSERT_THAT(ReadPacket(), IsEmpty());

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(4592u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(3072u, trace_buffer()->stats().bytes_overwritten());
  EXPECT_EQ(1520u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(2576u, trace_buffer()->stats().padding_bytes_written());
  EXPECT_EQ(0u, trace_buffer()->stats().padding_bytes_cleared());
  EXPECT_EQ(3u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_rewritten());
  EXPECT_EQ(0u, trace_buffer()->stats().chunks_relocated());
  EXPECT_EQ(2u, trace_buffer()->stats().chunks_overwritten());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_read());
}
