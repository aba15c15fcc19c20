// 57-58-allows-writer-drop: the engines differ. Expected is what v2@57 gives;
// v2@58 gives something else.
TEST_F(TraceBufferV2Test, Reproducer_5758AllowsWriterDrop) {
  ResetBuffer(4096);
  SuppressClientDchecksForTesting();
  {
    static const uint8_t kPayload[] = {
        0xff, 0xff, 0xff, 0x7f,};
    trace_buffer()->CopyChunkUntrusted(
        ProducerID(1), ClientIdentity(uid_t(0), pid_t(0)), WriterID(1),
        ChunkID(0), /*num_fragments=*/1, /*chunk_flags=*/0,
        /*chunk_complete=*/true, kPayload, sizeof(kPayload));
  }

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(16u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(1u, trace_buffer()->stats().abi_violations());
  EXPECT_EQ(1u, trace_buffer()->stats().trace_writer_packet_loss());
}
