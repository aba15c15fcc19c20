// 54-55-seals-when-exactly-full: bytes_written is 4112 in v2@54, 4096 in v2@55.
// Expected is what v2@54 gives; v2@55 gives something else.
//
// 1:1#0 [ a4065 ]
// 1:2#0 [ ]
//
// The buffer before the last read, in bytes:
// v2@54: [ 1:2#0 16 ][ padding 4080 ] write cursor 16
// v2@55: [ 1:1#0 4096 ] write cursor 4096
TEST_F(TraceBufferV2Test, Reproducer_5455SealsWhenExactlyFull) {
  ResetBuffer(4096, TraceBuffer::kDiscard);
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .AddPacket(4065, 'a')
      .CopyIntoTraceBuffer();
  CreateChunk(ProducerID(1), WriterID(2), ChunkID(0))
      .CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(4112u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(4096u, trace_buffer()->stats().bytes_overwritten());
  EXPECT_EQ(0u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(4080u, trace_buffer()->stats().padding_bytes_written());
  EXPECT_EQ(2u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_overwritten());
  EXPECT_EQ(0u, trace_buffer()->stats().chunks_discarded());
  EXPECT_EQ(0u, trace_buffer()->stats().chunks_read());
}
