// 56-57-reports-loss-causes: packet 1:1#1+0 (2991 bytes): loss bits overwrite
// from v2@57, present from v2@56.
// Expected is what v2@57 gives; v2@56 gives something else.
//
// 1:1#0 [ a1057 ]
// 1:1#1 [ b2993 ]
//
// The buffer before the last read, in bytes:
// v2@57: [ 1:1#1 3024 ] write cursor 3024
// v2@56: [ 1:1#1 3024 ] write cursor 3024
TEST_F(TraceBufferV2Test, Reproducer_5657ReportsLossCauses) {
  ResetBuffer(4096);
  uint32_t previous_packet_dropped = 0;
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0))
      .AddPacket(1057, 'a')
      .CopyIntoTraceBuffer();
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(1))
      .AddPacket(2993, 'b')
      .CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(2993, 'b')));
  EXPECT_EQ(static_cast<uint32_t>(DataLossReason::DATA_LOSS_PRESENT |
                                  DataLossReason::DATA_LOSS_OVERWRITE),
            previous_packet_dropped);
  ASSERT_THAT(ReadPacket(), IsEmpty());

  EXPECT_EQ(4112u, trace_buffer()->stats().bytes_written());
  EXPECT_EQ(1088u, trace_buffer()->stats().bytes_overwritten());
  EXPECT_EQ(3024u, trace_buffer()->stats().bytes_read());
  EXPECT_EQ(2u, trace_buffer()->stats().chunks_written());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_overwritten());
  EXPECT_EQ(1u, trace_buffer()->stats().chunks_read());
  EXPECT_EQ(1u, trace_buffer()->stats().write_wrap_count());
}
