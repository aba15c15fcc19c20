// 57-58-completed-chunk-moves: bytes_written is 64 in v2@58, 32 in v2@57.
// Expected is what v2@58 gives; v2@57 gives something else.
//
// 1:1#0 [ ] scraped
// 1:1#0 [ *1 ]
//
// The buffer before the last read, in bytes:
// v2@58: [ padding 32 ][ 1:1#0 32 ] write cursor 64
// v2@57: [ 1:1#0 32 ] write cursor 32
TEST_F(TraceBufferV2Test, Reproducer_5758CompletedChunkMoves) {
  ResetBuffer(4096);
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .PadTo(17)
      .CopyIntoTraceBuffer(/*chunk_complete=*/false);
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .AddPacket({0x00})
      .CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(64u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(32u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(2u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(0u, trace_buffer()->stats().chunks_rewritten());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_relocated());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_read());
}
