// 55-56-readmission-is-no-gap: bytes_overwritten is 80 in v2@55, 0 in v2@56.
// Expected is what v2@55 gives; v2@56 gives something else.
//
// 1:1#0 [ ] scraped
// 1:2#0 [ a4001 ]
//
// The buffer before the last read, in bytes:
// v2@55: [ 1:2#0 4032 ] write cursor 4032
// v2@56: [ 1:2#0 4032 ] write cursor 4032
TEST_F(TraceBufferV2Test, Reproducer_5556ReadmissionIsNoGap) {
  ResetBuffer(4096);
  bool previous_packet_dropped = false;
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .PadTo(65)
      .CopyIntoTraceBuffer(/*chunk_complete=*/false);
  CreateChunk(ProducerID(1), WriterID(2), ChunkID(0))
      .AddPacket(4001, 'a')
      .CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(4001, 'a')));
  EXPECT_FALSE(previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(4112u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(80u, trace_buffer()->stats().bytes_overwritten());
  EXPECT_EQ(4032u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(2u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_overwritten());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_read());
  EXPECT_EQ(1u, trace_buffer()->stats().write_wrap_count());
}
