// 54-55-scrape-keeps-incomplete: the engines differ. Expected is what v2@54
// gives; v2@55 gives something else.
TEST_F(TraceBufferV2Test, Reproducer_54_55_scrape_keeps_incomplete) {
  ResetBuffer(4096);
  bool previous_packet_dropped = false;
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0)).AddPacket(21, 'a')
      .AddPacket(4, 'b').CopyIntoTraceBuffer(/*chunk_complete=*/false);
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0)).AddPacket(21, 'a')
      .AddPacket(4, 'b').CopyIntoTraceBuffer(/*chunk_complete=*/false);

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(21, 'a')));
  EXPECT_FALSE(previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0)).AddPacket(21, 'a')
      .AddPacket(4, 'b').CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(), IsEmpty());

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(48u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(0u, trace_buffer()->stats().chunks_rewritten());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_discarded());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_read());
}
