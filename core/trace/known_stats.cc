#include "core/trace/known_stats.h"

#include <array>

namespace ringscope {
namespace {

// As many names to a line as fit.
// clang-format off
constexpr std::array<std::string_view, 19> kBuffersRows = {
    "config_write_into_file_discard", "config_write_into_file_no_flush", "filter_errors",
    "long_trace_mode_bytes_overwritten", "traced_buf_abi_violations",
    "traced_buf_data_loss_chunk_corrupted", "traced_buf_data_loss_orphan_continuation",
    "traced_buf_data_loss_overwrite", "traced_buf_data_loss_read_gap",
    "traced_buf_data_loss_reassembly_broken_chain", "traced_buf_data_loss_reassembly_gap",
    "traced_buf_data_loss_smb_full", "traced_buf_data_loss_writer_abort",
    "traced_buf_incremental_sequences_dropped", "traced_buf_patches_failed",
    "traced_buf_sequence_packet_loss", "traced_buf_trace_writer_packet_loss",
    "traced_final_flush_failed", "traced_flushes_failed",
};

constexpr std::array<std::string_view, 6> kFtraceRows = {
    "compact_sched_has_parse_errors", "ftrace_bundle_tokenizer_errors",
    "ftrace_cpu_commit_overrun_delta", "ftrace_cpu_dropped_events_delta",
    "ftrace_cpu_has_data_loss", "ftrace_kprobe_misses_delta",
};

constexpr std::array<std::string_view, 10> kTimesRows = {
    "atom_timestamp_missing", "clock_sync_failure_no_path",
    "clock_sync_failure_undeferrable_packet_loss", "clock_sync_failure_unknown_source_clock",
    "clock_sync_failure_unknown_target_clock", "gpu_counters_missing_timestamp",
    "invalid_clock_snapshots", "sorter_push_event_out_of_order",
    "trace_sorter_negative_timestamp_dropped", "track_event_missing_timestamp",
};

constexpr std::array<std::string_view, 9> kPacketsRows = {
    "incremental_state_cleared_missing_sequence_id", "interned_data_missing_sequence_id",
    "previous_packet_dropped_missing_sequence_id", "thread_descriptor_missing_sequence_id",
    "trace_packet_defaults_missing_sequence_id", "track_descriptor_missing_uuid",
    "track_descriptor_process_missing_pid", "track_descriptor_thread_missing_pid_tid",
    "track_event_missing_sequence_id",
};

constexpr std::array<std::string_view, 17> kReportRows = {
    "android_log_num_failed", "game_intervention_has_parse_errors",
    "game_intervention_has_read_errors", "heapprofd_buffer_corrupted", "heapprofd_buffer_overran",
    "heapprofd_client_error", "heapprofd_hit_guardrail", "heapprofd_missing_packet",
    "heapprofd_rejected_concurrent", "metatrace_overruns", "packages_list_has_parse_errors",
    "packages_list_has_read_errors", "perf_cpu_lost_records", "perf_guardrail_stop_ts",
    "perf_samples_skipped", "perf_samples_skipped_dataloss", "systemd_journal_num_failed",
};

constexpr std::array<std::string_view, 44> kFormatsRows = {
    "android_br_parse_errors", "android_log_format_invalid", "etm_no_importer",
    "fuchsia_invalid_event", "fuchsia_invalid_event_arg_name", "fuchsia_invalid_event_arg_type",
    "fuchsia_invalid_string_ref", "fuchsia_non_numeric_counters", "fuchsia_record_read_error",
    "fuchsia_timestamp_overflow", "fuchsia_unknown_event_arg", "hprof_class_errors",
    "hprof_field_value_errors", "hprof_header_errors", "hprof_heap_dump_errors",
    "hprof_primitive_array_parsing_errors", "hprof_reference_errors",
    "instruments_row_missing_backtrace", "instruments_row_missing_frame",
    "instruments_row_missing_process", "instruments_row_missing_thread", "json_parser_failure",
    "json_tokenizer_failure", "legacy_v8_cpu_profile_invalid_callsite",
    "legacy_v8_cpu_profile_invalid_sample", "ninja_parse_errors", "perf_aux_collision",
    "perf_aux_lost", "perf_aux_missing", "perf_aux_partial", "perf_aux_truncated",
    "perf_auxtrace_missing", "perf_record_skipped", "perf_samples_cpu_mode_unknown",
    "perf_text_importer_sample_no_frames", "perf_unknown_aux_data", "primes_executor_not_found",
    "primes_malformed_timestamp", "primes_unknown_edge_type", "simpleperf_missing_file_mapping",
    "strace_missing_pid", "strace_unsupported_timestamp_format",
    "symbolization_tmp_build_id_not_found", "systrace_parse_failure",
};

constexpr std::array<std::string_view, 3> kTogetherRows = {
    "clock_sync_failure", "clock_sync_mixed_clock_sources", "clock_sync_unrelatable_clock_domains",
};

constexpr std::array<std::string_view, 2> kUserRows = {
    "deobfuscate_location_parse_error", "extra_parsing_descriptors_error",
};

constexpr std::array<std::string_view, 2> kProgramsRows = {
    "protovm_abort", "protovm_registration_error",
};

constexpr std::array<std::string_view, 37> kNamesRows = {
    "app_wakelock_parse_error", "app_wakelock_unknown_id", "energy_breakdown_missing_values",
    "energy_descriptor_invalid", "energy_uid_breakdown_missing_values",
    "entity_state_descriptor_invalid", "entity_state_residency_invalid",
    "entity_state_residency_lookup_failed", "gpu_counters_invalid_spec",
    "gpu_counters_missing_spec", "gpu_render_stage_parser_errors", "heap_graph_invalid_string_id",
    "heap_graph_malformed_packet", "heap_graph_missing_packet", "heap_graph_non_finalized_graph",
    "heapprofd_malformed_packet", "heapprofd_non_finalized_profile", "jit_unknown_frame",
    "kernel_wakelock_reused_id", "kernel_wakelock_unknown_id", "namespaced_thread_missing_process",
    "power_rail_unknown_index", "process_tracker_errors", "stackprofile_empty_callstack",
    "stackprofile_invalid_callstack_id", "stackprofile_invalid_frame_id",
    "stackprofile_invalid_mapping_id", "stackprofile_invalid_string_id",
    "stackprofile_parser_error", "v8_code_load_missing_code_range", "v8_intern_errors",
    "v8_isolate_has_no_code_range", "v8_no_code_range", "v8_no_defaults", "v8_unknown_code_type",
    "vulkan_allocations_invalid_string_id",
    "winscope_viewcapture_missing_interned_string_parse_errors",
};

constexpr std::array<std::string_view, 33> kSlicesRows = {
    "concurrent_session_event_unknown_state", "flow_duplicate_id", "flow_invalid_id",
    "flow_no_enclosing_slice", "flow_without_direction", "generic_task_state_invalid_order",
    "gpu_work_period_negative_duration", "kernel_trackevent_format_error",
    "mismatched_sched_switch_tids", "misplaced_end_event", "missing_disk_io_event_name",
    "slice_drop_overlapping_complete_event", "slice_max_depth_exceeded", "slice_negative_duration",
    "slice_spill_overlapping_complete_event", "task_state_invalid",
    "thread_time_in_state_unknown_cpu_freq", "track_descriptor_conflicting_reservation",
    "track_descriptor_default_track_with_parent", "track_descriptor_invalid_child_ordering",
    "track_event_counter_invalid_track_uuid", "track_event_counter_missing_track_uuid",
    "track_event_counter_missing_value", "track_event_extra_counter_exceeds_max",
    "track_event_extra_counter_invalid_track", "track_event_extra_counter_missing_track_uuids",
    "track_event_extra_counter_track_uuid_mismatch", "track_event_invalid_timestamp",
    "track_event_range_of_interest_missing_start_us", "track_event_state_missing_track_uuid",
    "track_event_thread_invalid_end", "track_event_track_hierarchy_loop",
    "track_event_track_hierarchy_too_deep",
};

constexpr std::array<std::string_view, 36> kContentsRows = {
    "android_aflags_errors", "android_video_codec_error", "android_video_display_gone",
    "android_video_display_not_found", "android_video_encoder_setup_failed",
    "android_video_no_encoder", "android_video_parse_size_cap_hit", "android_video_size_cap_hit",
    "android_video_virtual_display_failed", "cpu_info_empty", "empty_chrome_metadata",
    "ftrace_generic_descriptor_errors", "ftrace_thermal_exynos_acpm_unknown_tz_id",
    "invalid_cpu_times", "mali_unknown_mcu_state_id", "meminfo_unknown_keys",
    "memory_snapshot_parser_failure", "mm_unknown_type", "pixel_modem_negative_timestamp",
    "power_rail_empty_packet", "proc_stat_unknown_counters", "psi_unknown_resource",
    "rss_stat_unknown_keys", "smaps_parser_errors", "streaming_profile_invalid_timestamp",
    "unknown_extension_fields", "user_list_errors", "vmstat_unknown_keys",
    "winscope_inputmethod_clients_parse_errors",
    "winscope_inputmethod_manager_service_parse_errors",
    "winscope_inputmethod_service_parse_errors", "winscope_sf_layers_parse_errors",
    "winscope_sf_transactions_parse_errors", "winscope_shell_transitions_parse_errors",
    "winscope_viewcapture_parse_errors", "winscope_windowmanager_parse_errors",
};
// clang-format on

constexpr KnownStats kAll[] = {
    {true, "Buffers and the service", "", kBuffersRows},
    {true, "Ftrace", "", kFtraceRows},
    {true, "Clocks and order", "", kTimesRows},
    {true, "What packets lack", "", kPacketsRows},
    {true, "What packets report", "", kReportRows},
    {true, "Programs (ProtoVM)", "", kProgramsRows},
    {false, "Other file formats",
     "They are of files that are not Perfetto traces: JSON, Fuchsia, perf.data, heap dumps, "
     "systrace and others.",
     kFormatsRows},
    {false, "Several files at once",
     "They arise between the files of one import, or are no longer set.", kTogetherRows},
    {false, "What is given to trace processor besides the trace",
     "It is not in the trace: descriptors and symbols of the user's.", kUserRows},
    {false, "Names and numbers of other packets",
     "They need tables of interned names, call stacks, scripts, counters and processes, which "
     "trace processor builds of other packets.",
     kNamesRows},
    {false, "Slices, tracks, flows and states",
     "They are decided by the parsers of events: by what is open on a track when an event comes.",
     kSlicesRows},
    {false, "Contents of single packets",
     "They are decided by the parsers of one kind of content: values that are missing, not known "
     "or of a wrong form.",
     kContentsRows},
};

}  // namespace

std::span<const KnownStats> AllKnownStats() { return kAll; }

}  // namespace ringscope
