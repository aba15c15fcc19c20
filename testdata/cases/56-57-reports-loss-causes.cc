// 56-57-reports-loss-causes: the engines differ. Expected is what v2@57 gives;
// v2@56 gives something else.
TEST_F(TraceBufferV2Test, Reproducer_56_57_reports_loss_causes) {
  ResetBuffer(4096);
  uint32_t previous_packet_dropped = 0;
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(0)).AddPacket(1502, 'a')
      .CopyIntoTraceBuffer();
  CreateChunk(ProducerID(1), WriterID(1), ChunkID(1)).AddPacket(3002, 'b')
      .CopyIntoTraceBuffer();

  trace_buffer()->BeginRead();
  ASSERT_THAT(ReadPacket(nullptr, &previous_packet_dropped),
      ElementsAre(FakePacketFragment(3002, 'b')));
  EXPECT_EQ(65u, previous_packet_dropped);  // overwrite
  ASSERT_THAT(ReadPacket(), IsEmpty());
}
