// 57-58-allows-writer-drop: the engines differ. Expected is what v2@57 gives;
// v2@58 gives something else.
TEST_F(TraceBufferV2Test, Reproducer_57_58_allows_writer_drop) {
  ResetBuffer(4096);
  SuppressClientDchecksForTesting();
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .AddPacket({0xff, 0xff, 0xff, 0x7f}).CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(1u, trace_buffer()->stats().abi_violations());
}
