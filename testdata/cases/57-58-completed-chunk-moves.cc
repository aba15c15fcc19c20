// 57-58-completed-chunk-moves: the engines differ. Expected is what v2@58
// gives; v2@57 gives something else.
TEST_F(TraceBufferV2Test, Reproducer_5758CompletedChunkMoves) {
  ResetBuffer(4096);
  uint32_t previous_packet_dropped = 0;
  {
    static const uint8_t kPayload[] = {
        0x14, 0xa2, 0x38, 0x11, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78,
        0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x03, 0xa2, 0x38,
        0x00,};
    trace_buffer()->CopyChunkUntrusted(
        ProducerID(1), ClientIdentity(uid_t(0), pid_t(0)), WriterID(1),
        ChunkID(0), /*num_fragments=*/2, /*chunk_flags=*/0,
        /*chunk_complete=*/false, kPayload, sizeof(kPayload));
  }

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment("\2428\021xxxxxxxxxxxxxxxxx", 20)));
  EXPECT_EQ(0u, previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());
  {
    static const uint8_t kPayload[] = {
        0x14, 0xa2, 0x38, 0x11, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78,
        0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x78, 0x03, 0xa2, 0x38,
        0x00,};
    trace_buffer()->CopyChunkUntrusted(
        ProducerID(1), ClientIdentity(uid_t(0), pid_t(0)), WriterID(1),
        ChunkID(0), /*num_fragments=*/2, /*chunk_flags=*/0,
        /*chunk_complete=*/true, kPayload, sizeof(kPayload));
  }

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment("\2428\000", 3)));
  EXPECT_EQ(0u, previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(96u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(96u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(2u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(0u, trace_buffer()->stats().chunks_rewritten());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_relocated());
  EXPECT_EQ(2u, trace_buffer()->stats().chunks_read());
}
