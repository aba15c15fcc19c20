// 54-55-scrape-keeps-incomplete: chunks_discarded is 1 in v2@54, 0 in v2@55.
// Expected is what v2@54 gives; v2@55 gives something else.
//
// 1:1#0 [ a2 ] scraped
// 1:1#0 [ c2 ] scraped
// read
// 1:1#0 [ ]
//
// The buffer before the last read, in bytes:
// v2@54: [ padding 32 ] write cursor 32
// v2@55: [ 1:1#0 32 incomplete 2 read ] write cursor 32
TEST_F(TraceBufferV2Test, Reproducer_5455ScrapeKeepsIncomplete) {
  ResetBuffer(4096);
  SuppressClientDchecksForTesting();
  bool previous_packet_dropped = false;
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .AddPacket(2, 'a')
      .AddPacket({0x00})
      .CopyIntoTraceBuffer(/*chunk_complete=*/false);
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .AddPacket(2, 'c')
      .AddPacket({0x00})
      .CopyIntoTraceBuffer(/*chunk_complete=*/false);

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(2, 'a')));
  EXPECT_FALSE(previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(32u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(32u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_discarded());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_read());
  EXPECT_EQ(0u, trace_buffer()->stats().abi_violations());
}
