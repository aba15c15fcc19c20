#include "core/findings/finding.h"

namespace ringscope {
namespace {

constexpr Rule kRules[] = {
    // The file.
    {"trace.empty", Harm::kError, "No data of any producer",
     "The file has no packets, or only those of the tracing service itself.",
     "Check that the data sources are registered under exactly the names in the config, and that "
     "their producers are connected while the session runs."},
    {"trace.corrupt", Harm::kError, "The file is damaged",
     "Bytes that are not a packet. Trace processor stops its import there; ringscope continues at "
     "the next packet that it can find.",
     "Copy the file once more from where it was recorded, as binary; 'ringscope verify --repair' "
     "saves the packets that are whole. Traces that were cut or joined by other tools must be cut "
     "between packets."},
    {"trace.cut_off", Harm::kWarning, "The file ends too early",
     "It ends within a packet, or its events end before the session did, and the statistics, which "
     "the service writes last, are missing.",
     "'ringscope verify --repair' saves the packets that are whole. Wait until the session has "
     "ended before copying the file; look for a full disk or for a recording process that was "
     "killed."},
    {"trace.no_stats", Harm::kWarning, "No statistics of the service",
     "Without a trace_stats packet, what the buffers lost is not known.",
     "Copy the file when the session has ended, or check whether a filter removes trace_stats."},
    {"trace.file_full", Harm::kDataLoss, "The file reached its size limit",
     "The service ends the file before the packet that would make it as large as "
     "max_file_size_bytes, without its statistics, and ends the session.",
     "A larger max_file_size_bytes, or less data."},
    {"trace.after_stats", Harm::kInfo, "Packets follow the last statistics",
     "The service's statistics are not at the end of the file: they do not count the packets that "
     "follow. Bytes that are no packet are left out.",
     "None is needed, if the file was not changed."},
    {"trace.short", Harm::kWarning, "Events end early",
     "The session, or its events, ended before the time that its config asks for. It is info where "
     "a trigger or a clone shows why, or no data source writes all the time.",
     "Look at what stopped the session: its client, a signal, a crash of the producers."},
    {"trace.late_start", Harm::kWarning, "Nothing at the beginning",
     "The first event comes long after the session's start, and no buffer overwrote anything.",
     "deferred_start, so that the session starts when its data sources are ready."},
    {"trace.joined", Harm::kWarning, "Several sessions in one file",
     "There is more than one trace config or uuid. Sequence ids and counters start over in each. "
     "ringscope judges each session by itself; trace processor takes them as one, and mixes up "
     "their sequences and counters.",
     "Open each session by itself in trace processor: 'ringscope replay --session N -o' writes "
     "one."},

    // Losses that the replay of a log proves.
    {"log.lost", Harm::kDataLoss, "Packets of the log were lost",
     "A replay of the log shows each packet that did not get into the trace, and why.",
     "See what 'ringscope gaps' and 'ringscope advise' report about these packets."},
    {"log.waiting", Harm::kDataLoss, "Packets wait in a buffer to the end",
     "A replay of the log shows packets that were not read, as they or packets before them lack a "
     "patch or a chunk.",
     "Look at the writer: 'ringscope gaps' names the writer, and what its packets wait for."},
    {"log.stale", Harm::kWarning, "Events were committed long after their time",
     "Packets of the log were committed later than 5 s after their own time. In a ring they stay "
     "beside events that are much newer: the UI shows a huge gap between them.",
     "flush_period_ms makes writers commit what they hold."},
    {"log.unknown_source", Harm::kWarning, "A data source that nobody registered",
     "The trace config names a data source that no producer of the log registered: it wrote "
     "nothing.",
     "Check the name, and that its producer is connected while the session runs."},
    {"log.signs", Harm::kWarning, "More may be missing than is known",
     "No packet of the log was lost in its buffers, but counters, flags or missing chunks show a "
     "loss.",
     "Look at what 'ringscope gaps' lists as further hints of loss."},

    // Losses in the buffers.
    {"buffer.packet_loss", Harm::kDataLoss, "Packets are missing",
     "A packet reports that something of its sequence is missing before it "
     "(previous_packet_dropped). As in trace processor, a sequence's first packet does not count; "
     "'gaps' lists it, too, if it has a cause.",
     "Depends on the cause: a larger buffer for overwritten data, more shared memory where a "
     "producer's was full."},
    {"buffer.overwritten", Harm::kDataLoss, "Unread data was overwritten",
     "The buffer was full, and its oldest chunks were overwritten before they were read.",
     "A larger buffer, less data, or, where the session is written into a file, a shorter "
     "file_write_period_ms."},
    {"buffer.discarded", Harm::kDataLoss, "The buffer was full, and discarded the rest",
     "A buffer with fill_policy DISCARD keeps the beginning: from the moment it is full, nothing "
     "is recorded any more.",
     "A larger buffer, or RING_BUFFER to keep the end instead."},
    {"buffer.late_chunks", Harm::kWarning, "A ring refused chunks",
     "A ring refuses a chunk if it had it already, or if a later one of its sequence was read or "
     "overwritten: the chunk came late.",
     "A larger buffer, in which later chunks of the sequence are not overwritten first."},
    {"buffer.patches_failed", Harm::kDataLoss, "Patches could not be applied",
     "Patches with the lengths of long packets could not be applied: their chunks were not, or no "
     "longer, in the buffer, or the bytes to be patched are outside of them. Packets that wait for "
     "such a patch are lost. Where a full DISCARD buffer refused the chunks, it is reported as "
     "info only.",
     "If chunks were overwritten first, a larger buffer, in which they still are when their "
     "patches come; else look for a producer with a defect."},
    {"buffer.writer_loss", Harm::kDataLoss, "Writers dropped packets",
     "A producer's shared memory was full, and its writers dropped packets before the buffer saw "
     "them.",
     "More shared memory for the producer (shm_size_kb in 'producers' of the config, or "
     "shmem_size_hint_kb where it starts), or BUFFER_EXHAUSTED_STALL for the data source."},
    {"buffer.abi_violations", Harm::kDataLoss, "Chunks that break the protocol",
     "A chunk or fragment does not follow the rules of the shared memory; its rest is lost. It is "
     "a warning where no packet of the trace reports a loss, and info where the replay of a log "
     "shows that the buffer only refused re-commits and lost no packet.",
     "Look for a producer with an old or a patched client library, and for one that continued to "
     "write after its chunk was committed."},
    {"buffer.short_reach", Harm::kWarning, "The ring holds less than the time between reads",
     "At the rate of this session, or of a config alone at 1 to 2 MB/s, the buffer is full before "
     "the service reads it again.",
     "A larger buffer, or a shorter file_write_period_ms."},
    {"service.chunks_discarded", Harm::kDataLoss, "The service refused chunks",
     "Chunks for a buffer that is not there, or that their producer may not write to.",
     "Look for producers that continue to write after their session ended, or into another data "
     "source's buffer."},
    {"service.patches_discarded", Harm::kWarning, "The service refused patches",
     "Patches with wrong sizes, or for writers or buffers that are not there.",
     "Look for producers with an old or a patched client library."},
    {"service.invalid_packets", Harm::kDataLoss, "The service dropped invalid packets",
     "Packets that are not a valid protobuf message, or that have fields only the service may "
     "write.",
     "Look for producers that write such packets; V1 buffers make them of packets whose patches "
     "are missing."},

    // Data sources.
    {"source.silent", Harm::kWarning, "A data source delivered nothing",
     "The config asks for it, and no packet in the trace has a field that it writes.",
     "Check its name, its config and its producer."},
    {"source.no_category", Harm::kWarning, "Categories without an event",
     "No event of the trace has a category that enabled_categories of the config names. It is info "
     "where other categories have events, or where a buffer lost data.",
     "Check enabled_categories in track_event_config against the categories that the app defines, "
     "and whether what they mark happened."},
    {"source.slow", Harm::kWarning, "Data sources were slow to start",
     "20 s after the session's start the service was still waiting for them.",
     "Look at their producers, which were busy, blocked or frozen."},

    // Incremental state.
    {"state.unusable", Harm::kDataLoss, "Packets without the state that they need",
     "Names and times of these packets refer to earlier packets of their sequence that are lost. "
     "Trace processor skips them. Half of all packets, or more, is an error; the few before the "
     "first repetition in a ring whose clear period is short enough are info.",
     "incremental_state_config { clear_period_ms } makes the producers repeat the state; a larger "
     "buffer keeps it."},
    {"state.never_cleared", Harm::kWarning, "Names that trace processor ignores",
     "A sequence has interned names and never sets SEQ_INCREMENTAL_STATE_CLEARED: trace processor "
     "ignores the names, as it takes the state as not valid.",
     "The writer has to set sequence_flags: 1 (SEQ_INCREMENTAL_STATE_CLEARED) in the first packet "
     "of each sequence, and 2 (SEQ_NEEDS_INCREMENTAL_STATE) in those that refer to names."},

    // Flushes and sequences.
    {"flush.failed", Harm::kDataLoss, "A flush failed",
     "A producer did not acknowledge a flush in time: what it had not committed by then may be "
     "missing.",
     "A longer flush_timeout_ms; look at the producers that were late."},
    {"flush.final_failed", Harm::kDataLoss, "The final flush failed",
     "The last data of a producer may be missing from the end of the trace.",
     "A longer flush_timeout_ms; look at the producers that were late."},
    {"sequence.lost", Harm::kWarning, "A sequence was lost as a whole",
     "The service lists it among those that wrote into its buffers, and no packet of it is in the "
     "trace.",
     "A larger buffer, or one of its own for what writes little, so that what writes much does not "
     "overwrite it."},

    // The kernel's ftrace.
    {"ftrace.overrun", Harm::kDataLoss, "The kernel overwrote ftrace events",
     "The kernel's buffer of a CPU was full before it was read: lost_events of a bundle, or the "
     "overrun counter.",
     "A larger buffer_size_kb, a shorter drain_period_ms, or fewer events in ftrace_config."},
    {"ftrace.commit_overrun", Harm::kError, "The kernel lost ftrace events while writing",
     "commit_overrun counts events that were lost because one was interrupted by too many others.",
     "A larger buffer_size_kb, or fewer events."},
    {"ftrace.dropped", Harm::kError, "The kernel dropped ftrace events",
     "dropped_events counts events for which there was no space.",
     "A larger buffer_size_kb, a shorter drain_period_ms, or fewer events."},
    {"ftrace.kprobe_misses", Harm::kDataLoss, "Kprobes were missed",
     "The kernel could not record all hits of a kprobe.",
     "Fewer kprobes, or a larger maxactive for return probes."},
    {"ftrace.setup", Harm::kWarning, "Events that ftrace could not record",
     "The kernel or atrace did not have events that the config asks for, or refused them. It is "
     "info for events of wildcards and categories.",
     "Check the names in available_events of the device's tracefs; other kernels have others."},
    {"ftrace.symbols", Harm::kWarning, "Functions of the kernel without names",
     "Events that name functions have only addresses unless the config asks for symbols.",
     "symbolize_ksyms: true in ftrace_config."},
    {"ftrace.late_cpu", Harm::kWarning, "Events before all CPUs have data",
     "The CPUs' data begin at different times: trace processor makes no slices and counters of "
     "events before the latest of these. It is info for less than a tenth of the events.",
     "A larger buffer: what a busy CPU wrote was overwritten, that of idle ones was not."},

    // Profilers.
    {"perf.lost", Harm::kDataLoss, "Samples of linux.perf were lost",
     "The kernel's ring buffer of perf had no space, the queue of the unwinder was full, or a "
     "guardrail stopped traced_perf.",
     "A larger ring_buffer_pages, a lower frequency, or fewer processes in its scope."},
    {"perf.no_callstack", Harm::kError, "Samples without a callstack",
     "sample_skipped_reason: the memory or registers of the process could not be read, or its "
     "callstack was not unwound. One of a hundred samples, or less, is info.",
     "A lower frequency; processes that are profileable, with unwind tables."},
    {"heap.profile", Harm::kDataLoss, "A heap profile is not complete",
     "The buffer between a client and heapprofd was full or corrupted, the client had an error or "
     "was refused, or packets of the profile are missing.",
     "A larger shmem_size_bytes, a larger sampling_interval_bytes, or block_client: true."},
    {"heap.dump", Harm::kDataLoss, "A Java heap dump is not complete",
     "Packets of the dump are missing, by their numbers, or its last one is. The importer drops a "
     "dump that does not end.",
     "A larger buffer of its own for android.java_hprof, or write_into_file; a longer "
     "data_source_stop_timeout_ms, if the dump was not finished."},

    // Clocks and order.
    {"clock.unknown", Harm::kError, "Times that cannot be converted",
     "No clock snapshot relates these packets' clock to the clock of the trace. Trace processor "
     "drops the packets.",
     "Write clock snapshots (builtin_data_sources must not switch them off), and for a sequence's "
     "own clock a snapshot on that sequence."},
    {"clock.lost_packets", Harm::kDataLoss,
     "Packets were lost because a clock snapshot was missing",
     "Their clock became known only after the importer had begun to give out events.",
     "Write the clock snapshot before the first packet that needs it."},
    {"clock.no_snapshots", Harm::kWarning, "No clock snapshots",
     "Times of different clocks cannot be related.",
     "builtin_data_sources { disable_clock_snapshotting: false }"},
    {"clock.no_sync", Harm::kWarning, "A machine without clock synchronization",
     "No remote_clock_sync relates the clocks of a remote machine to those of the service's.",
     "Record with a relay service that synchronizes clocks."},
    {"order.gap", Harm::kWarning, "Groups of events far from each other",
     "More than half of the trace has no event. It is info where a sequence has events on both "
     "sides, so that nothing happened there, or where the clocks show that the device slept.",
     "Look at the clocks of what wrote the groups."},
    {"order.late", Harm::kError, "Events come too late for the sorter",
     "Trace processor sorts a streamed trace in windows between flushes; events older than what "
     "has left a window, of writers that hold them back, are dropped.",
     "write_flush_mode: WRITE_FLUSH_ENABLED flushes before each write. trace_processor --full-sort "
     "keeps them, at the cost of memory."},
    {"order.hole", Harm::kWarning, "A few old events beside a huge gap",
     "A few packets are older than all others by more than half of the trace: they were committed "
     "long after their time, and the ring that had overwritten what was around them kept them. The "
     "UI shows a huge gap. Messages of a log from before the session are info.",
     "flush_period_ms makes writers commit what they hold, so that it is overwritten with the rest "
     "of its time."},
    {"packet.errors", Harm::kError, "Packets that trace processor drops",
     "Trace processor counts packets, events or clock snapshots that lack a field that they need "
     "or are malformed: all of its counters of errors and losses that no other finding is about. "
     "Counters by which nothing is missing are info.",
     "Look at the producers that write them, at what changed the trace since, and whether a filter "
     "of another version did."},

    // The config.
    {"config.refused", Harm::kError, "The service refuses the config",
     "The service answers with an error, and the session does not start: times and triggers that "
     "exclude each other or are too long, buffers that do not exist, have the same name or are too "
     "many, and what enable_extra_guardrails forbids. A trace proves that its service took the "
     "config.",
     "The change of the finding."},
    {"config.ignored", Harm::kWarning, "A setting that the service ignores or replaces",
     "Sizes of shared memory that are no multiple of a page or too large, periods that are too "
     "short, and settings that have no effect beside others.",
     "A value that the service takes, or without the setting."},
    {"config.records_nothing", Harm::kWarning, "A data source that records nothing",
     "linux.ftrace without events, atrace categories and kprobes, of which the trace has no data. "
     "A config without any data source is an error.",
     "data_sources { config { name: \"linux.ftrace\" ftrace_config { ftrace_events: "
     "\"sched/sched_switch\" } } }, for example."},
    {"config.unknown_source", Harm::kWarning, "A data source with an unknown name",
     "Data sources are found by exactly their names. A name that is like a known one is a finding; "
     "any other can be of any producer.",
     "The name under which a producer registers it."},
    {"config.event_name", Harm::kWarning, "Several events or categories in one name",
     "Each ftrace event and each atrace category has a line of its own: \"group/event\".",
     "One line for each."},
    {"config.process_names", Harm::kWarning, "Threads without a process",
     "The scheduler's events have numbers of threads. linux.process_stats has their processes and "
     "names, and task/task_newtask and task/task_rename those of later ones. It is info for a "
     "trace.",
     "linux.process_stats, and the events task/task_newtask and task/task_rename."},
    {"config.discard_into_file", Harm::kDataLoss, "DISCARD in a session written into a file",
     "A full buffer of this policy takes no more data, however often it was read. It is a warning "
     "where a trace lost nothing by it, and info where the buffer was never full or its data "
     "sources write little.",
     "fill_policy: RING_BUFFER"},
    {"config.no_flush", Harm::kWarning, "The config has no flush period",
     "Without flushes, data waits in the producers' shared memory, in order of the writers and not "
     "of time. It is info where the events of the trace came in order.",
     "flush_period_ms, for example 5000; since v54 the service flushes by itself where it writes "
     "into a file."},
    {"config.no_clear_period", Harm::kInfo, "Incremental state is never repeated",
     "A ring that wraps overwrites the state that later packets need; without "
     "incremental_state_config nothing repeats it. Where packets lack it, state.unusable reports "
     "that.",
     "incremental_state_config { clear_period_ms } of a tenth of what the ring holds"},
    {"config.clear_period", Harm::kWarning,
     "The state is repeated less often than the ring turns over",
     "Between two repetitions the ring is overwritten once, so that for a part of the time no "
     "packet is usable. It is info for a trace where all packets have their state.",
     "A shorter clear_period_ms, or a larger buffer."},
    {"config.shared_buffer", Harm::kWarning, "One data source overwrites the others",
     "Several data sources share a ring, and one of them writes most of it. It is info for a trace "
     "where nothing of the others is missing.",
     "A buffer of its own for the data source that writes most."},
    {"config.ftrace_drain", Harm::kWarning, "The kernel's buffers are small for what they take",
     "A drain period of seconds needs a large kernel buffer per CPU: less than 5 MB/s, less than 1 "
     "MiB, a period below 100 ms or above a minute, all system calls without a list, and old "
     "events that are kept are findings.",
     "drain_period_ms: 250, or a larger buffer_size_kb; syscall_events."},
    {"config.unused_buffer", Harm::kWarning, "A buffer that nothing is written to",
     "Data sources write to the buffer of their target_buffer or target_buffer_name, and without "
     "these to the first one.",
     "target_buffer in the data_sources that are meant for it, or one buffer less."},
    {"config.size", Harm::kError, "A buffer that the service refuses",
     "A size of 0, or of 4 GiB and more.", "size_kb between 4 and 4194300"},
};

}  // namespace

std::span<const Rule> DoctorRules() { return kRules; }

const Rule& RuleOf(std::string_view id) { return *std::ranges::find(kRules, id, &Rule::id); }

}  // namespace ringscope
