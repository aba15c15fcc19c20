// 57-58-completed-chunk-moves: the engines differ. Expected is what v2@58
// gives; v2@57 gives something else.
TEST_F(TraceBufferV2Test, Reproducer_57_58_completed_chunk_moves) {
  ResetBuffer(4096);
  uint32_t previous_packet_dropped = 0;
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0)).AddPacket(21, 'a')
      .AddPacket(4, 'b').CopyIntoTraceBuffer(/*chunk_complete=*/false);

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(21, 'a')));
  EXPECT_EQ(0u, previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0)).AddPacket(21, 'a')
      .AddPacket(4, 'b').CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(4, 'b')));
  EXPECT_EQ(0u, previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(96u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(2u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(0u, trace_buffer()->stats().chunks_rewritten());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_relocated());
}
