#include "formats/proto/trace_config_schema.h"

namespace ringscope {

const char* const kTraceConfigMessages = R"(
AndroidAflagsConfig: 1 poll_ms u
AndroidGameInterventionListConfig: 1 package_name_filter s
AndroidInputEventConfig: 1 mode AndroidInputEventConfig.TraceMode,
  2 rules AndroidInputEventConfig.TraceRule, 3 trace_dispatcher_input_events b,
  4 trace_dispatcher_window_dispatch b, 5 trace_evdev_events b
AndroidInputEventConfig.TraceRule: 1 trace_level AndroidInputEventConfig.TraceLevel,
  2 match_all_packages s, 3 match_any_packages s, 4 match_secure b,
  5 match_ime_connection_active b
AndroidLogConfig: 1 log_ids AndroidLogId, 3 min_prio AndroidLogPriority, 4 filter_tags s,
  5 preserve_log_buffer b
AndroidPolledStateConfig: 1 poll_ms u
AndroidPowerConfig: 1 battery_poll_ms u, 2 battery_counters AndroidPowerConfig.BatteryCounters,
  3 collect_power_rails b, 4 collect_energy_estimation_breakdown b,
  5 collect_entity_state_residency b
AndroidSdkSyspropGuardConfig: 1 surfaceflinger_skia_track_events b, 2 hwui_skia_track_events b,
  3 hwui_package_name_filter s
AndroidSystemPropertyConfig: 1 poll_ms u, 2 property_name s
AndroidUserListConfig: 1 user_type_filter s
AppWakelocksConfig: 1 write_delay_ms i, 2 filter_duration_below_ms i, 3 drop_owner_pid b
ChromeConfig: 1 trace_config s, 2 privacy_filtering_enabled b, 3 convert_to_legacy_json b,
  4 client_priority ChromeConfig.ClientPriority, 5 json_agent_label_filter s,
  6 event_package_name_filter_enabled b
ChromiumHistogramSamplesConfig: 1 histograms ChromiumHistogramSamplesConfig.HistogramSample,
  2 filter_histogram_names b
ChromiumHistogramSamplesConfig.HistogramSample: 1 histogram_name s, 2 min_value i, 3 max_value i
ChromiumSystemMetricsConfig: 1 sampling_interval_ms u
CloneSessionRequest: 1 session_id u, 2 skip_trace_filter b, 3 for_bugreport b,
  4 unique_session_name s, 5 clone_trigger_name s, 6 clone_trigger_producer_name s,
  7 clone_trigger_trusted_producer_uid i, 8 clone_trigger_boot_time_ns u, 9 clone_trigger_delay_ms u
ConsoleConfig: 1 output ConsoleConfig.Output, 2 enable_colors b
CpuPerUidConfig: 1 poll_ms u
DataSourceConfig: 1 name s, 2 target_buffer u, 3 trace_duration_ms u, 4 tracing_session_id u,
  6 enable_extra_guardrails b, 7 stop_timeout_ms u,
  8 session_initiator DataSourceConfig.SessionInitiator,
  9 buffer_exhausted_policy DataSourceConfig.BufferExhaustedPolicy,
  10 priority_boost PriorityBoostConfig, 11 target_buffer_name s, 12 protovm_config ProtoVmConfig,
  100 ftrace_config FtraceConfig, 101 chrome_config ChromeConfig,
  102 inode_file_config InodeFileConfig, 103 process_stats_config ProcessStatsConfig,
  104 sys_stats_config SysStatsConfig, 105 heapprofd_config HeapprofdConfig,
  106 android_power_config AndroidPowerConfig, 107 android_log_config AndroidLogConfig,
  108 gpu_counter_config GpuCounterConfig, 109 packages_list_config PackagesListConfig,
  110 java_hprof_config JavaHprofConfig, 111 perf_event_config PerfEventConfig,
  112 vulkan_memory_config VulkanMemoryConfig, 113 track_event_config TrackEventConfig,
  114 android_polled_state_config AndroidPolledStateConfig,
  115 interceptor_config InterceptorConfig,
  116 android_game_intervention_list_config AndroidGameInterventionListConfig,
  117 statsd_tracing_config StatsdTracingConfig,
  118 android_system_property_config AndroidSystemPropertyConfig,
  119 system_info_config SystemInfoConfig,
  120 network_packet_trace_config NetworkPacketTraceConfig,
  121 surfaceflinger_layers_config SurfaceFlingerLayersConfig,
  122 prefer_suspend_clock_for_duration b,
  123 surfaceflinger_transactions_config SurfaceFlingerTransactionsConfig,
  124 android_sdk_sysprop_guard_config AndroidSdkSyspropGuardConfig, 125 etw_config EtwConfig,
  126 protolog_config ProtoLogConfig, 127 v8_config V8Config,
  128 android_input_event_config AndroidInputEventConfig, 129 pixel_modem_config PixelModemConfig,
  130 windowmanager_config WindowManagerConfig,
  131 chromium_system_metrics ChromiumSystemMetricsConfig,
  132 kernel_wakelocks_config KernelWakelocksConfig,
  133 gpu_renderstages_config GpuRenderStagesConfig,
  134 chromium_histogram_samples ChromiumHistogramSamplesConfig,
  135 app_wakelocks_config AppWakelocksConfig, 136 frozen_ftrace_config FrozenFtraceConfig,
  137 cpu_per_uid_config CpuPerUidConfig, 138 user_list_config AndroidUserListConfig,
  139 inputmethod_config InputMethodConfig, 140 android_aflags_config AndroidAflagsConfig,
  141 journald_config SystemdJournaldConfig, 142 display_video_config DisplayVideoConfig,
  150 qnx_config QnxConfig, 1000 legacy_config s, 1001 for_testing TestConfig
DisplayVideoConfig: 1 scale f, 2 format DisplayVideoConfig.Format, 3 key_frame_interval_secs u,
  4 max_stream_size_bytes u, 5 bitrate_bps u
EtwConfig: 1 kernel_flags EtwConfig.KernelFlag, 2 scheduler_provider_events s,
  3 memory_provider_events s, 4 file_provider_events s, 5 stack_sampling_events s,
  6 disk_provider_events s, 7 system_io_provider_events s
FollowerEvent: 1 counter PerfEvents.Counter, 2 tracepoint PerfEvents.Tracepoint,
  3 raw_event PerfEvents.RawEvent, 4 name s, 5 modifiers PerfEvents.EventModifier
FrozenFtraceConfig: 1 instance_name s
FtraceConfig: 1 ftrace_events s, 2 atrace_categories s, 3 atrace_apps s, 10 buffer_size_kb u,
  11 drain_period_ms u, 12 compact_sched FtraceConfig.CompactSchedConfig, 13 symbolize_ksyms b,
  14 initialize_ksyms_synchronously_for_testing b, 15 throttle_rss_stat b,
  16 disable_generic_events b, 17 ksyms_mem_policy FtraceConfig.KsymsMemPolicy,
  18 syscall_events s, 19 enable_function_graph b, 20 function_filters s,
  21 function_graph_roots s, 22 print_filter FtraceConfig.PrintFilter,
  23 preserve_ftrace_buffer b, 24 use_monotonic_raw_clock b, 25 instance_name s,
  27 buffer_size_lower_bound b, 28 atrace_categories_prefer_sdk s, 29 drain_buffer_percent u,
  30 kprobe_events FtraceConfig.KprobeEvent, 31 debug_ftrace_abi b,
  32 denser_generic_event_encoding b, 33 function_graph_max_depth u, 34 atrace_userspace_only b,
  35 tids_to_trace u, 36 tracefs_options FtraceConfig.TracefsOption, 37 tracing_cpumask s
FtraceConfig.CompactSchedConfig: 1 enabled b
FtraceConfig.KprobeEvent: 1 probe s, 2 type FtraceConfig.KprobeEvent.KprobeType
FtraceConfig.PrintFilter: 1 rules FtraceConfig.PrintFilter.Rule
FtraceConfig.PrintFilter.Rule: 1 prefix s, 2 allow b,
  3 atrace_msg FtraceConfig.PrintFilter.Rule.AtraceMessage
FtraceConfig.PrintFilter.Rule.AtraceMessage: 1 type s, 2 prefix s
FtraceConfig.TracefsOption: 1 name s, 2 state FtraceConfig.TracefsOption.State
GpuCounterConfig: 1 counter_period_ns u, 2 counter_ids u, 3 instrumented_sampling b,
  4 fix_gpu_clock b, 5 instrumented_sampling_config GpuCounterConfig.InstrumentedSamplingConfig,
  6 counter_names s
GpuCounterConfig.InstrumentedSamplingConfig:
  3 activity_name_filters GpuCounterConfig.InstrumentedSamplingConfig.ActivityNameFilter,
  5 activity_ranges GpuCounterConfig.InstrumentedSamplingConfig.ActivityRange,
  6 activity_tx_include_globs s, 7 activity_tx_exclude_globs s
GpuCounterConfig.InstrumentedSamplingConfig.ActivityNameFilter: 1 name_glob s,
  2 name_base GpuCounterConfig.InstrumentedSamplingConfig.ActivityNameFilter.NameBase
GpuCounterConfig.InstrumentedSamplingConfig.ActivityRange: 1 skip u, 2 count u
GpuRenderStagesConfig: 1 full_loadstore b, 2 low_overhead b, 3 trace_metrics s
HeapprofdConfig: 1 sampling_interval_bytes u, 2 process_cmdline s, 4 pid u, 5 all b,
  6 continuous_dump_config HeapprofdConfig.ContinuousDumpConfig, 7 skip_symbol_prefix s,
  8 shmem_size_bytes u, 9 block_client b, 10 no_startup b, 11 no_running b, 13 dump_at_max b,
  14 block_client_timeout_us u, 15 min_anonymous_memory_kb u, 16 max_heapprofd_memory_kb u,
  17 max_heapprofd_cpu_secs u, 18 disable_fork_teardown b, 19 disable_vfork_detection b,
  20 heaps s, 21 all_heaps b, 22 heap_sampling_intervals u, 23 stream_allocations b,
  24 adaptive_sampling_shmem_threshold u, 25 adaptive_sampling_max_sampling_interval_bytes u,
  26 target_installed_by s, 27 exclude_heaps s
HeapprofdConfig.ContinuousDumpConfig: 5 dump_phase_ms u, 6 dump_interval_ms u
InodeFileConfig: 1 scan_interval_ms u, 2 scan_delay_ms u, 3 scan_batch_size u, 4 do_not_scan b,
  5 scan_mount_points s, 6 mount_point_mapping InodeFileConfig.MountPointMappingEntry
InodeFileConfig.MountPointMappingEntry: 1 mountpoint s, 2 scan_roots s
InputMethodConfig: 1 client b, 2 service b, 3 manager_service b
InterceptorConfig: 1 name s, 100 console_config ConsoleConfig
JavaHprofConfig: 1 process_cmdline s, 2 pid u,
  3 continuous_dump_config JavaHprofConfig.ContinuousDumpConfig, 4 min_anonymous_memory_kb u,
  5 dump_smaps b, 6 ignored_types s, 7 target_installed_by s, 8 smaps_config SmapsConfig,
  9 min_java_heap_size_kb u, 10 dump_oome_callstack b
JavaHprofConfig.ContinuousDumpConfig: 1 dump_phase_ms u, 2 dump_interval_ms u,
  3 scan_pids_only_on_start b
KernelWakelocksConfig: 1 poll_ms u
NetworkPacketTraceConfig: 1 poll_ms u, 2 aggregation_threshold u, 3 intern_limit u,
  4 drop_local_port b, 5 drop_remote_port b, 6 drop_tcp_flags b
PackagesListConfig: 1 package_name_filter s, 2 only_write_on_cpu_use_every_ms u,
  3 package_name_regex_filter s
PerfEventConfig: 1 all_cpus b, 2 sampling_frequency u, 3 ring_buffer_pages u, 4 target_pid i,
  5 target_cmdline s, 6 exclude_pid i, 7 exclude_cmdline s, 8 ring_buffer_read_period_ms u,
  9 remote_descriptor_timeout_ms u, 10 unwind_state_clear_period_ms u,
  11 additional_cmdline_count u, 12 kernel_frames b, 13 max_daemon_memory_kb u,
  15 timebase PerfEvents.Timebase, 16 callstack_sampling PerfEventConfig.CallstackSampling,
  17 max_enqueued_footprint_kb u, 18 target_installed_by s, 19 followers FollowerEvent,
  20 target_cpu u, 21 ignore_open_failure b, 22 cpuid s
PerfEventConfig.CallstackSampling: 1 scope PerfEventConfig.Scope, 2 kernel_frames b,
  3 user_frames PerfEventConfig.UnwindMode
PerfEventConfig.Scope: 1 target_pid i, 2 target_cmdline s, 3 exclude_pid i, 4 exclude_cmdline s,
  5 additional_cmdline_count u, 6 process_shard_count u
PerfEvents.RawEvent: 1 type u, 2 config u, 3 config1 u, 4 config2 u, 5 pmu_name s
PerfEvents.Timebase: 1 period u, 2 frequency u, 3 tracepoint PerfEvents.Tracepoint,
  4 counter PerfEvents.Counter, 5 raw_event PerfEvents.RawEvent, 6 poll_period_ms u, 10 name s,
  11 timestamp_clock PerfEvents.PerfClock, 12 modifiers PerfEvents.EventModifier
PerfEvents.Tracepoint: 1 name s, 2 filter s
PixelModemConfig: 1 event_group PixelModemConfig.EventGroup, 2 pigweed_hash_allow_list i,
  3 pigweed_hash_deny_list i
PriorityBoostConfig: 1 policy PriorityBoostConfig.BoostPolicy, 2 priority u
ProcessStatsConfig: 1 quirks ProcessStatsConfig.Quirks, 2 scan_all_processes_on_start b,
  3 record_thread_names b, 4 proc_stats_poll_ms u, 6 proc_stats_cache_ttl_ms u,
  9 resolve_process_fds b, 10 scan_smaps_rollup b, 11 record_process_age b,
  12 record_process_runtime b, 13 record_process_dmabuf_rss b, 14 skip_main_thread_message b
ProtoLogConfig: 1 group_overrides ProtoLogGroup, 2 tracing_mode ProtoLogConfig.TracingMode,
  3 default_log_from_level ProtoLogLevel
ProtoLogGroup: 1 group_name s, 2 log_from ProtoLogLevel, 3 collect_stacktrace b
ProtoVmConfig: 1 memory_limit_kb u
QnxConfig: 1 qnx_kernel_buffers u, 2 qnx_kernel_kbuffers u, 3 qnx_kernel_wide_events b,
  4 qnx_cache_pages u, 5 qnx_cache_max_pages i, 6 qnx_trace_buffer_init_bytes u
RedactionRule: 1 pattern s, 2 match_mode RedactionRule.MatchMode, 3 keep_full b,
  4 replacement_name s, 5 keep_file_extension b, 6 keep_path_elements u
SmapsConfig: 1 vma_fields SmapsConfig.VmaField, 2 unaggregated b,
  3 name_redaction_rules RedactionRule
StatsdPullAtomConfig: 1 pull_atom_id i, 2 raw_pull_atom_id i, 3 pull_frequency_ms i, 4 packages s
StatsdTracingConfig: 1 push_atom_id i, 2 raw_push_atom_id i, 3 pull_config StatsdPullAtomConfig
SurfaceFlingerLayersConfig: 1 mode SurfaceFlingerLayersConfig.Mode,
  2 trace_flags SurfaceFlingerLayersConfig.TraceFlag
SurfaceFlingerTransactionsConfig: 1 mode SurfaceFlingerTransactionsConfig.Mode
SysStatsConfig: 1 meminfo_period_ms u, 2 meminfo_counters i, 3 vmstat_period_ms u,
  4 vmstat_counters i, 5 stat_period_ms u, 6 stat_counters SysStatsConfig.StatCounters,
  7 devfreq_period_ms u, 8 cpufreq_period_ms u, 9 buddyinfo_period_ms u, 10 diskstat_period_ms u,
  11 psi_period_ms u, 12 thermal_period_ms u, 13 cpuidle_period_ms u, 14 gpufreq_period_ms u,
  15 slab_period_ms u
SystemInfoConfig: 1 irq_names b
SystemdJournaldConfig: 1 min_prio u, 2 filter_identifiers s, 3 filter_units s
TestConfig: 1 message_count u, 2 max_messages_per_second u, 3 seed u, 4 message_size u,
  5 send_batch_on_register b, 6 dummy_fields TestConfig.DummyFields
TestConfig.DummyFields: 1 field_uint32 u, 2 field_int32 i, 3 field_uint64 u, 4 field_int64 i,
  5 field_fixed64 u, 6 field_sfixed64 i, 7 field_fixed32 u, 8 field_sfixed32 i, 9 field_double d,
  10 field_float f, 11 field_sint64 z, 12 field_sint32 z, 13 field_string s, 14 field_bytes y
TraceAttributes: 1 attribute TraceAttributes.Attribute
TraceAttributes.Attribute: 1 key s, 2 long_value i, 3 string_value s
TraceConfig: 1 buffers TraceConfig.BufferConfig, 2 data_sources TraceConfig.DataSource,
  3 duration_ms u, 4 enable_extra_guardrails b, 5 lockdown_mode TraceConfig.LockdownModeOperation,
  6 producers TraceConfig.ProducerConfig, 7 statsd_metadata TraceConfig.StatsdMetadata,
  8 write_into_file b, 9 file_write_period_ms u, 10 max_file_size_bytes u,
  11 guardrail_overrides TraceConfig.GuardrailOverrides, 12 deferred_start b,
  13 flush_period_ms u, 14 flush_timeout_ms u, 16 notify_traceur b,
  17 trigger_config TraceConfig.TriggerConfig, 18 activate_triggers s,
  19 allow_user_build_tracing b, 20 builtin_data_sources TraceConfig.BuiltinDataSource,
  21 incremental_state_config TraceConfig.IncrementalStateConfig, 22 unique_session_name s,
  23 data_source_stop_timeout_ms u, 24 compression_type TraceConfig.CompressionType,
  25 incident_report_config TraceConfig.IncidentReportConfig, 27 trace_uuid_msb i,
  28 trace_uuid_lsb i, 29 output_path s, 30 bugreport_score i,
  31 statsd_logging TraceConfig.StatsdLogging, 33 trace_filter TraceConfig.TraceFilter,
  34 android_report_config TraceConfig.AndroidReportConfig,
  35 cmd_trace_start_delay TraceConfig.CmdTraceStartDelay, 36 prefer_suspend_clock_for_duration b,
  38 bugreport_filename s, 39 session_semaphores TraceConfig.SessionSemaphore,
  40 priority_boost PriorityBoostConfig, 41 exclusive_prio u, 43 trace_all_machines b,
  44 write_flush_mode TraceConfig.WriteFlushMode, 45 fflush_post_write TraceConfig.FFlushMode,
  47 compression TraceConfig.CompressionConfig, 48 trace_attributes TraceAttributes
TraceConfig.AndroidReportConfig: 1 reporter_service_package s, 2 reporter_service_class s,
  3 skip_report b, 4 use_pipe_in_framework_for_testing b
TraceConfig.BufferConfig: 1 size_kb u, 4 fill_policy TraceConfig.BufferConfig.FillPolicy,
  5 transfer_on_clone b, 6 clear_before_clone b, 7 name s,
  8 experimental_mode TraceConfig.BufferConfig.ExperimentalMode
TraceConfig.BuiltinDataSource: 1 disable_clock_snapshotting b, 2 disable_trace_config b,
  3 disable_system_info b, 4 disable_service_events b, 5 primary_trace_clock BuiltinClock,
  6 snapshot_interval_ms u, 7 prefer_suspend_clock_for_snapshot b,
  8 disable_chunk_usage_histograms b, 9 disable_extension_descriptors b,
  10 enable_concurrent_session_events b
TraceConfig.CmdTraceStartDelay: 1 min_delay_ms u, 2 max_delay_ms u
TraceConfig.CompressionConfig: 1 deflate TraceConfig.CompressionConfig.Deflate,
  2 zstd TraceConfig.CompressionConfig.Zstd
TraceConfig.CompressionConfig.Zstd: 1 level i
TraceConfig.DataSource: 1 config DataSourceConfig, 2 producer_name_filter s,
  3 producer_name_regex_filter s, 4 machine_name_filter s
TraceConfig.GuardrailOverrides: 1 max_upload_per_day_bytes u, 2 max_tracing_buffer_size_kb u
TraceConfig.IncidentReportConfig: 1 destination_package s, 2 destination_class s,
  3 privacy_level i, 4 skip_dropbox b, 5 skip_incidentd b
TraceConfig.IncrementalStateConfig: 1 clear_period_ms u
TraceConfig.ProducerConfig: 1 producer_name s, 2 shm_size_kb u, 3 page_size_kb u
TraceConfig.SessionSemaphore: 1 name s, 2 max_other_session_count u
TraceConfig.StatsdMetadata: 1 triggering_alert_id i, 2 triggering_config_uid i,
  3 triggering_config_id i, 4 triggering_subscription_id i
TraceConfig.TraceFilter: 1 bytecode y, 2 bytecode_v2 y,
  3 string_filter_chain TraceConfig.TraceFilter.StringFilterChain, 4 bytecode_overlay_v54 y,
  5 string_filter_chain_v54 TraceConfig.TraceFilter.StringFilterChain
TraceConfig.TraceFilter.StringFilterChain: 1 rules TraceConfig.TraceFilter.StringFilterRule
TraceConfig.TraceFilter.StringFilterRule: 1 policy TraceConfig.TraceFilter.StringFilterPolicy,
  2 regex_pattern s, 3 atrace_payload_starts_with s, 4 name s, 5 semantic_type SemanticType
TraceConfig.TriggerConfig: 1 trigger_mode TraceConfig.TriggerConfig.TriggerMode,
  2 triggers TraceConfig.TriggerConfig.Trigger, 3 trigger_timeout_ms u,
  5 use_clone_snapshot_if_available b
TraceConfig.TriggerConfig.Trigger: 1 name s, 2 producer_name_regex s, 3 stop_delay_ms u,
  4 max_per_24_h u, 5 skip_probability d
TrackEventConfig: 1 disabled_categories s, 2 enabled_categories s, 3 disabled_tags s,
  4 enabled_tags s, 5 disable_incremental_timestamps b, 6 timestamp_unit_multiplier u,
  7 filter_debug_annotations b, 8 enable_thread_time_sampling b, 9 filter_dynamic_event_names b,
  10 thread_time_subsampling_ns u
V8Config: 1 log_script_sources b, 2 log_instructions b
VulkanMemoryConfig: 1 track_driver_memory_usage b, 2 track_device_memory_usage b
WindowManagerConfig: 1 log_frequency WindowManagerConfig.LogFrequency,
  2 log_level WindowManagerConfig.LogLevel, 3 log_mode WindowManagerConfig.LogMode
)";

const char* const kTraceConfigEnums = R"(
AndroidInputEventConfig.TraceLevel: 0 TRACE_LEVEL_NONE, 1 TRACE_LEVEL_REDACTED,
  2 TRACE_LEVEL_COMPLETE
AndroidInputEventConfig.TraceMode: 0 TRACE_MODE_TRACE_ALL, 1 TRACE_MODE_USE_RULES
AndroidLogId: 0 LID_DEFAULT, 1 LID_RADIO, 2 LID_EVENTS, 3 LID_SYSTEM, 4 LID_CRASH, 5 LID_STATS,
  6 LID_SECURITY, 7 LID_KERNEL
AndroidLogPriority: 0 PRIO_UNSPECIFIED, 1 PRIO_UNUSED, 2 PRIO_VERBOSE, 3 PRIO_DEBUG, 4 PRIO_INFO,
  5 PRIO_WARN, 6 PRIO_ERROR, 7 PRIO_FATAL
AndroidPowerConfig.BatteryCounters: 0 BATTERY_COUNTER_UNSPECIFIED, 1 BATTERY_COUNTER_CHARGE,
  2 BATTERY_COUNTER_CAPACITY_PERCENT, 3 BATTERY_COUNTER_CURRENT, 4 BATTERY_COUNTER_CURRENT_AVG,
  5 BATTERY_COUNTER_VOLTAGE
BuiltinClock: 0 BUILTIN_CLOCK_UNKNOWN, 1 BUILTIN_CLOCK_REALTIME, 2 BUILTIN_CLOCK_REALTIME_COARSE,
  3 BUILTIN_CLOCK_MONOTONIC, 4 BUILTIN_CLOCK_MONOTONIC_COARSE, 5 BUILTIN_CLOCK_MONOTONIC_RAW,
  6 BUILTIN_CLOCK_BOOTTIME, 9 BUILTIN_CLOCK_TSC, 10 BUILTIN_CLOCK_PERF,
  11 BUILTIN_CLOCK_TRACE_FILE, 63 BUILTIN_CLOCK_MAX_ID
ChromeConfig.ClientPriority: 0 UNKNOWN, 1 BACKGROUND, 2 USER_INITIATED
ConsoleConfig.Output: 0 OUTPUT_UNSPECIFIED, 1 OUTPUT_STDOUT, 2 OUTPUT_STDERR
DataSourceConfig.BufferExhaustedPolicy: 0 BUFFER_EXHAUSTED_UNSPECIFIED, 1 BUFFER_EXHAUSTED_DROP,
  2 BUFFER_EXHAUSTED_STALL_THEN_ABORT, 3 BUFFER_EXHAUSTED_STALL_THEN_DROP
DataSourceConfig.SessionInitiator: 0 SESSION_INITIATOR_UNSPECIFIED,
  1 SESSION_INITIATOR_TRUSTED_SYSTEM
DisplayVideoConfig.Format: 0 FORMAT_UNSPECIFIED, 1 FORMAT_H264, 2 FORMAT_HEVC
EtwConfig.KernelFlag: 0 CSWITCH, 1 DISPATCHER
FtraceConfig.KprobeEvent.KprobeType: 0 KPROBE_TYPE_UNKNOWN, 1 KPROBE_TYPE_KPROBE,
  2 KPROBE_TYPE_KRETPROBE, 3 KPROBE_TYPE_BOTH
FtraceConfig.KsymsMemPolicy: 0 KSYMS_UNSPECIFIED, 1 KSYMS_CLEANUP_ON_STOP, 2 KSYMS_RETAIN
FtraceConfig.TracefsOption.State: 0 STATE_UNKNOWN, 1 STATE_ENABLED, 2 STATE_DISABLED
GpuCounterConfig.InstrumentedSamplingConfig.ActivityNameFilter.NameBase: 0 MANGLED_KERNEL_NAME,
  1 DEMANGLED_KERNEL_NAME, 2 FUNCTION_NAME
PerfEventConfig.UnwindMode: 0 UNWIND_UNKNOWN, 1 UNWIND_SKIP, 2 UNWIND_DWARF,
  3 UNWIND_FRAME_POINTER, 4 UNWIND_KERNEL_FRAME_POINTER
PerfEvents.Counter: 0 UNKNOWN_COUNTER, 1 SW_CPU_CLOCK, 2 SW_PAGE_FAULTS, 3 SW_TASK_CLOCK,
  4 SW_CONTEXT_SWITCHES, 5 SW_CPU_MIGRATIONS, 6 SW_PAGE_FAULTS_MIN, 7 SW_PAGE_FAULTS_MAJ,
  8 SW_ALIGNMENT_FAULTS, 9 SW_EMULATION_FAULTS, 20 SW_DUMMY, 10 HW_CPU_CYCLES, 11 HW_INSTRUCTIONS,
  12 HW_CACHE_REFERENCES, 13 HW_CACHE_MISSES, 14 HW_BRANCH_INSTRUCTIONS, 15 HW_BRANCH_MISSES,
  16 HW_BUS_CYCLES, 17 HW_STALLED_CYCLES_FRONTEND, 18 HW_STALLED_CYCLES_BACKEND,
  19 HW_REF_CPU_CYCLES
PerfEvents.EventModifier: 0 UNKNOWN_EVENT_MODIFIER, 1 EVENT_MODIFIER_COUNT_USERSPACE,
  2 EVENT_MODIFIER_COUNT_KERNEL, 3 EVENT_MODIFIER_COUNT_HYPERVISOR
PerfEvents.PerfClock: 0 UNKNOWN_PERF_CLOCK, 1 PERF_CLOCK_REALTIME, 2 PERF_CLOCK_MONOTONIC,
  3 PERF_CLOCK_MONOTONIC_RAW, 4 PERF_CLOCK_BOOTTIME
PixelModemConfig.EventGroup: 0 EVENT_GROUP_UNKNOWN, 1 EVENT_GROUP_LOW_BANDWIDTH,
  2 EVENT_GROUP_HIGH_AND_LOW_BANDWIDTH
PriorityBoostConfig.BoostPolicy: 0 POLICY_UNSPECIFIED, 1 POLICY_SCHED_OTHER, 2 POLICY_SCHED_FIFO
ProcessStatsConfig.Quirks: 0 QUIRKS_UNSPECIFIED, 1 DISABLE_INITIAL_DUMP, 2 DISABLE_ON_DEMAND
ProtoLogConfig.TracingMode: 0 DEFAULT, 1 ENABLE_ALL
ProtoLogLevel: 0 PROTOLOG_LEVEL_UNDEFINED, 1 PROTOLOG_LEVEL_DEBUG, 2 PROTOLOG_LEVEL_VERBOSE,
  3 PROTOLOG_LEVEL_INFO, 4 PROTOLOG_LEVEL_WARN, 5 PROTOLOG_LEVEL_ERROR, 6 PROTOLOG_LEVEL_WTF
RedactionRule.MatchMode: 0 MATCH_MODE_UNKNOWN, 1 MATCH_MODE_PREFIX, 2 MATCH_MODE_GLOB_PATH,
  3 MATCH_MODE_GLOB_STRING
SemanticType: 0 SEMANTIC_TYPE_UNSPECIFIED, 1 SEMANTIC_TYPE_ATRACE, 2 SEMANTIC_TYPE_JOB,
  3 SEMANTIC_TYPE_WAKELOCK
SmapsConfig.VmaField: 0 VMA_FIELD_UNKNOWN, 1 VMA_FIELD_SIZE, 2 VMA_FIELD_RSS,
  3 VMA_FIELD_ANONYMOUS, 4 VMA_FIELD_SWAP, 5 VMA_FIELD_SHARED_CLEAN, 6 VMA_FIELD_SHARED_DIRTY,
  7 VMA_FIELD_PRIVATE_CLEAN, 8 VMA_FIELD_PRIVATE_DIRTY, 9 VMA_FIELD_LOCKED, 10 VMA_FIELD_PSS,
  11 VMA_FIELD_PSS_DIRTY, 12 VMA_FIELD_SWAP_PSS
SurfaceFlingerLayersConfig.Mode: 0 MODE_UNSPECIFIED, 1 MODE_ACTIVE, 2 MODE_GENERATED, 3 MODE_DUMP,
  4 MODE_GENERATED_BUGREPORT_ONLY, 5 MODE_PROTOVM
SurfaceFlingerLayersConfig.TraceFlag: 0 TRACE_FLAG_UNSPECIFIED, 2 TRACE_FLAG_INPUT,
  4 TRACE_FLAG_COMPOSITION, 8 TRACE_FLAG_EXTRA, 16 TRACE_FLAG_HWC, 32 TRACE_FLAG_BUFFERS,
  64 TRACE_FLAG_VIRTUAL_DISPLAYS, 14 TRACE_FLAG_ALL
SurfaceFlingerTransactionsConfig.Mode: 0 MODE_UNSPECIFIED, 1 MODE_CONTINUOUS, 2 MODE_ACTIVE
SysStatsConfig.StatCounters: 0 STAT_UNSPECIFIED, 1 STAT_CPU_TIMES, 2 STAT_IRQ_COUNTS,
  3 STAT_SOFTIRQ_COUNTS, 4 STAT_FORK_COUNT
TraceConfig.BufferConfig.ExperimentalMode: 0 MODE_UNSPECIFIED, 1 TRACE_BUFFER_V2
TraceConfig.BufferConfig.FillPolicy: 0 UNSPECIFIED, 1 RING_BUFFER, 2 DISCARD
TraceConfig.CompressionType: 0 COMPRESSION_TYPE_UNSPECIFIED, 1 COMPRESSION_TYPE_DEFLATE
TraceConfig.FFlushMode: 0 FFLUSH_UNSPECIFIED, 1 FFLUSH_DISABLED, 2 FFLUSH_ENABLED
TraceConfig.LockdownModeOperation: 0 LOCKDOWN_UNCHANGED, 1 LOCKDOWN_CLEAR, 2 LOCKDOWN_SET
TraceConfig.StatsdLogging: 0 STATSD_LOGGING_UNSPECIFIED, 1 STATSD_LOGGING_ENABLED,
  2 STATSD_LOGGING_DISABLED
TraceConfig.TraceFilter.StringFilterPolicy: 0 SFP_UNSPECIFIED, 1 SFP_MATCH_REDACT_GROUPS,
  2 SFP_ATRACE_MATCH_REDACT_GROUPS, 3 SFP_MATCH_BREAK, 4 SFP_ATRACE_MATCH_BREAK,
  5 SFP_ATRACE_REPEATED_SEARCH_REDACT_GROUPS
TraceConfig.TriggerConfig.TriggerMode: 0 UNSPECIFIED, 1 START_TRACING, 2 STOP_TRACING,
  4 CLONE_SNAPSHOT
TraceConfig.WriteFlushMode: 0 WRITE_FLUSH_UNSPECIFIED, 1 WRITE_FLUSH_AUTO, 2 WRITE_FLUSH_DISABLED,
  3 WRITE_FLUSH_ENABLED
WindowManagerConfig.LogFrequency: 0 LOG_FREQUENCY_UNSPECIFIED, 1 LOG_FREQUENCY_FRAME,
  2 LOG_FREQUENCY_TRANSACTION, 3 LOG_FREQUENCY_SINGLE_DUMP
WindowManagerConfig.LogLevel: 0 LOG_LEVEL_UNSPECIFIED, 1 LOG_LEVEL_VERBOSE, 2 LOG_LEVEL_DEBUG,
  3 LOG_LEVEL_CRITICAL
WindowManagerConfig.LogMode: 0 LOG_MODE_UNSPECIFIED, 1 LOG_MODE_FULL_STATE, 2 LOG_MODE_INCREMENTAL
)";

}  // namespace ringscope
