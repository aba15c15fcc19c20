/* A small buffer with the plug-in interface, in C: it keeps whole fragments in the order in which
 * they came, and never wraps. Compiled several times, with RS_FAULT set to one of the faults below,
 * it is the plug-in that ringscope must refuse or survive. Also shows that plugin_abi.h is C11. */
#define _GNU_SOURCE
#include <ringscope/plugin_abi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAULT_NONE 0
#define FAULT_NO_SYMBOL 1
#define FAULT_NULL_PLUGIN 2
#define FAULT_ABI_VERSION 3
#define FAULT_SMALL_STRUCT 4
#define FAULT_NULL_FUNCTION 5
#define FAULT_NO_NAME 6
#define FAULT_CREATE 7
#define FAULT_NULL_SLICE 8
#define FAULT_NULL_SLICES 9
#define FAULT_HUGE_PACKET 10
#define FAULT_NO_SEQUENCE 11
#define FAULT_ENDLESS 12
#define FAULT_BAD_ANSWER 13
#define FAULT_COMMIT 14
#define FAULT_PATCH 15
#define FAULT_CLONE 16
#define FAULT_OLDER 17
#define FAULT_NEWER 18
#define FAULT_BAD_REPORT 19
#define FAULT_NO_CHUNK 20
#define FAULT_LATE_DISCARD 21
#define FAULT_OTHER_DISCARD 22
#define FAULT_FAR_GIVEN_UP 23
#define FAULT_FAR_PLACE 24
#define FAULT_OVERLAP 25
#define FAULT_FAR_CURSOR 26
/* No faults, but uses of version 2 of the interface. */
#define FAULT_MACHINE 27 /* fails with the commit's machine */
#define FAULT_SECOND 28  /* a second plug-in */
#define FAULT_CIRCLE 29  /* a list of plug-ins without an end */
#define FAULT_PARTIAL 30 /* reports chunks without their end, and discards */
#define FAULT_EARLIER 31 /* knows version 1 alone, as its entry says */
#define FAULT_PROGRAMS 32 /* runs the programs of data sources */
#define FAULT_BAD_PROGRAM 33 /* the same, with a state at a null pointer */
#define FAULT_REWRITE 34 /* rewrites what it never committed, where another chunk is */
/* Ends of the plug-in's process, or reasons to end it. */
#define FAULT_LOAD 40        /* a crash while it is loaded */
#define FAULT_ABORT 41       /* a failed check in commit */
#define FAULT_NULL_POINTER 43
#define FAULT_HANG 44
#define FAULT_MEMORY 45
#define FAULT_EXIT 46

#define REPORTS (RS_FAULT >= FAULT_BAD_REPORT && RS_FAULT <= FAULT_FAR_GIVEN_UP)

enum { kMaxChunks = 1024 };

typedef struct chunk {
  ringscope_sequence sequence;
  uint32_t uid;
  int32_t pid;
  uint32_t number;
  uint8_t* bytes;
  uint64_t size;
} chunk;

typedef struct buffer {
  ringscope_config config;
  chunk chunks[kMaxChunks];
  size_t written;
  size_t read; /* chunks */
  uint64_t size;
  ringscope_slice slice;
} buffer;

#if RS_FAULT == FAULT_LOAD
__attribute__((constructor)) static void OnLoad(void) { abort(); }
#endif

static void* Create(const ringscope_config* config) {
  buffer* self = NULL;
  if (RS_FAULT == FAULT_CREATE) {
    config->fail(config->host, "no space for so many bytes");
    return NULL;
  }
  self = calloc(1, sizeof(*self));
  if (self != NULL) self->config = *config;
  return self;
}

static void Destroy(void* p) {
  buffer* self = p;
  for (size_t i = 0; i < self->written; ++i) free(self->chunks[i].bytes);
  free(self);
}

static void Report(buffer* self, const ringscope_commit* commit) {
  const ringscope_observer* to = self->config.observer;
  if (to == NULL) return;
#if RS_FAULT == FAULT_PARTIAL
  const ringscope_chunk held = {.struct_size = sizeof(held), .sequence = commit->sequence};
  to->committed(to->context, &held);
  to->stalled(to->context, commit->sequence, commit->chunk, 99);
  to->discarded(to->context, commit, RINGSCOPE_DISCARD_UNKNOWN);
#endif
#if RS_FAULT == FAULT_REWRITE
  const ringscope_chunk first = {.struct_size = sizeof(first),
                                 .sequence = commit->sequence,
                                 .chunk = commit->chunk,
                                 .outer_size = 32,
                                 .payload_size = (uint32_t)commit->payload.size,
                                 .payload_avail = (uint32_t)commit->payload.size,
                                 .payload = commit->payload};
  if (self->written == 0)
    to->committed(to->context, &first);
  else
    to->rewritten(to->context, &first);
#endif
  if (RS_FAULT == FAULT_BAD_REPORT) to->discarded(to->context, commit, 77);
  if (RS_FAULT == FAULT_NO_CHUNK) to->committed(to->context, NULL);
  if (RS_FAULT == FAULT_OTHER_DISCARD) {
    ringscope_commit other = *commit;
    other.chunk += 5;
    to->discarded(to->context, &other, RINGSCOPE_DISCARD_FULL);
  }
}

static void Commit(void* p, const ringscope_commit* commit) {
  buffer* self = p;
  if (RS_FAULT == FAULT_COMMIT)
    self->config.fail(self->config.host, "a check of the plug-in's own did not hold");
#if RS_FAULT == FAULT_MACHINE
  char text[32];
  snprintf(text, sizeof(text), "machine %u", commit->machine);
  self->config.fail(self->config.host, text);
#endif
  if (RS_FAULT == FAULT_ABORT) {
    fprintf(stderr, "first line\ncheck failed: size < limit\n");
    abort();
  }
  while (RS_FAULT == FAULT_MEMORY) {
    char* volatile more = malloc(1 << 20);  // or a compiler may leave it out
    if (more != NULL) memset(more, 1, 1 << 20);
  }
  Report(self, commit);
  if (self->written == kMaxChunks || commit->payload.size == 0) return;
  chunk* to = &self->chunks[self->written];
  to->bytes = malloc(commit->payload.size);
  if (to->bytes == NULL) return;
  memcpy(to->bytes, commit->payload.data, commit->payload.size);
  to->size = commit->payload.size;
  to->sequence = commit->sequence;
  to->uid = commit->uid;
  to->pid = commit->pid;
  to->number = commit->chunk;
  ++self->written;
}

static int PatchChunk(void* p, const ringscope_patches* patches) {
  buffer* self = p;
  if (RS_FAULT == FAULT_PATCH) self->config.fail(self->config.host, NULL);
  while (RS_FAULT == FAULT_HANG) usleep(1000);
  (void)patches;
  return 0;
}

static void BeginRead(void* p) {
  const buffer* self = p;
  const ringscope_observer* to = self->config.observer;
  const ringscope_sequence sequence = {1, 1};
  /* The chunk before the first one: as if all ids were between them. */
  const ringscope_place place = {.first_chunk = 1, .first_offset = 0, .last_chunk = 0};
  if (RS_FAULT == FAULT_EXIT) exit(0);
  if (to == NULL) return;
  if (RS_FAULT == FAULT_LATE_DISCARD) to->discarded(to->context, NULL, RINGSCOPE_DISCARD_FULL);
  if (RS_FAULT == FAULT_FAR_GIVEN_UP)
    to->packet_given_up(to->context, sequence, &place, RINGSCOPE_LOSS_CHUNK_CORRUPTED);
}

/* One packet a chunk: its bytes after the first fragment's size, which must be of one byte. */
static int NextPacket(void* p, ringscope_packet* packet) {
  buffer* self = p;
  if (RS_FAULT == FAULT_BAD_ANSWER) return 7;
#if RS_FAULT == FAULT_NULL_POINTER
  *(volatile int*)NULL = 1;
#endif
  if (self->read == self->written) return 0;
  const chunk* from = &self->chunks[self->read];
  if (RS_FAULT != FAULT_ENDLESS) ++self->read;
  self->slice.data = from->bytes + 1;
  self->slice.size = from->bytes[0] < from->size ? from->bytes[0] : from->size - 1;
  packet->sequence = from->sequence;
  packet->uid = from->uid;
  packet->pid = from->pid;
  packet->slices = &self->slice;
  packet->slice_count = 1;
  packet->place.first_chunk = from->number;
  packet->place.last_chunk = from->number;
  if (RS_FAULT == FAULT_FAR_PLACE) ++packet->place.first_chunk; /* ends before it begins */
  if (RS_FAULT == FAULT_NULL_SLICE) self->slice.data = NULL;
  if (RS_FAULT == FAULT_NULL_SLICES) packet->slices = NULL;
  if (RS_FAULT == FAULT_HUGE_PACKET) self->slice.size = UINT64_MAX;
  if (RS_FAULT == FAULT_NO_SEQUENCE) memset(&packet->sequence, 0, sizeof(packet->sequence));
  return 1;
}

static void Stats(void* p, ringscope_stats* stats) {
  const buffer* self = p;
  stats->buffer_size = self->config.size;
  stats->chunks_written = self->written;
  stats->chunks_read = self->read;
}

#if RS_FAULT == FAULT_CLONE
static void* Clone(void* p, const ringscope_config* config) {
  (void)p;
  config->fail(config->host, "not while it rains");
  return NULL;
}
#define CLONE Clone
#else
#define CLONE NULL
#endif

#if RS_FAULT == FAULT_OVERLAP || RS_FAULT == FAULT_FAR_CURSOR
static uint64_t VisitChunks(void* p, ringscope_chunk_visitor visit, void* context) {
  const buffer* self = p;
  ringscope_chunk held = {.struct_size = sizeof(held), .outer_size = 32};
  visit(context, &held);
  held.offset = RS_FAULT == FAULT_OVERLAP ? 16 : 32;
  visit(context, &held);
  return RS_FAULT == FAULT_FAR_CURSOR ? self->config.size + 1 : 0;
}
#define VISIT_CHUNKS VisitChunks
#else
#define VISIT_CHUNKS NULL
#endif

#if RS_FAULT == FAULT_PROGRAMS || RS_FAULT == FAULT_BAD_PROGRAM
/* The last program that was set up; its state is the last chunk's payload. */
static uint8_t program_name[64], program_bytes[1024];
static ringscope_vm program;
static uint16_t program_producer;
static int SetUpVm(void* p, const ringscope_vm_setup* setup) {
  (void)p;
  if (setup->data_source.size > sizeof(program_name) ||
      setup->program.size > sizeof(program_bytes))
    return 0;
  memcpy(program_name, setup->data_source.data, setup->data_source.size);
  memcpy(program_bytes, setup->program.data, setup->program.size);
  program_producer = setup->producer;
  program.struct_size = sizeof(program);
  program.memory_limit_kb = setup->memory_limit_kb;
  program.data_source = (ringscope_slice){program_name, setup->data_source.size};
  program.program = (ringscope_slice){program_bytes, setup->program.size};
  program.producers = &program_producer;
  program.producer_count = 1;
  return 1;
}
static void VisitVms(void* p, ringscope_vm_visitor visit, void* context) {
  const buffer* self = p;
  if (program.struct_size == 0) return;
  if (self->written > 0) {
    const chunk* last = &self->chunks[self->written - 1];
    program.state = (ringscope_slice){last->bytes, last->size};
    program.memory = last->size;
  }
  if (RS_FAULT == FAULT_BAD_PROGRAM) program.state = (ringscope_slice){NULL, 5};
  visit(context, &program);
}
#define PROGRAMS .set_up_vm = SetUpVm, .visit_vms = VisitVms,
#else
#define PROGRAMS
#endif

#if RS_FAULT == FAULT_SECOND
static const ringscope_plugin kSecond = {
    .struct_size = sizeof(ringscope_plugin),
    .abi_version = RINGSCOPE_ABI_VERSION,
    .name = "second",
    .create = Create,
    .destroy = Destroy,
    .commit = Commit,
    .patch = PatchChunk,
    .begin_read = BeginRead,
    .next_packet = NextPacket,
    .stats = Stats,
};
#define NEXT .next = &kSecond,
#elif RS_FAULT == FAULT_CIRCLE
#define NEXT .next = &kPlugin.known,
#else
#define NEXT
#endif

#if RS_FAULT == FAULT_PARTIAL
#define TELLS (RINGSCOPE_TELLS_PLACES | RINGSCOPE_TELLS_COMMITTED | RINGSCOPE_TELLS_DISCARDED)
#elif RS_FAULT == FAULT_REWRITE
#define TELLS (RINGSCOPE_TELLS_PLACES | RINGSCOPE_TELLS_CHUNKS)
#elif RS_FAULT == FAULT_NONE
#define TELLS 0
#else
#define TELLS (RINGSCOPE_TELLS_PLACES | (REPORTS ? RINGSCOPE_TELLS_EVENTS : 0))
#endif

/* A later version's struct: what is known, and something after it. */
typedef struct newer_plugin {
  ringscope_plugin known;
  void (*unknown)(void);
} newer_plugin;

extern const newer_plugin kPlugin;
const newer_plugin kPlugin = {
    .known = {.struct_size = RS_FAULT == FAULT_SMALL_STRUCT ? 32
                             : RS_FAULT == FAULT_OLDER      ? offsetof(ringscope_plugin, clone)
                             : RS_FAULT == FAULT_NEWER      ? sizeof(newer_plugin)
                                                            : sizeof(ringscope_plugin),
              .abi_version = RS_FAULT == FAULT_ABI_VERSION ? 7 : RINGSCOPE_ABI_VERSION,
              .name = RS_FAULT == FAULT_NO_NAME ? NULL : "test",
              .version = NULL,
              .description = NULL,
              .tells = TELLS,
              .create = Create,
              .destroy = Destroy,
              .commit = RS_FAULT == FAULT_NULL_FUNCTION ? NULL : Commit,
              .patch = PatchChunk,
              .begin_read = BeginRead,
              .next_packet = NextPacket,
              .stats = Stats,
              /* An older plug-in's struct ends before this: whatever is here is not to be called.
               */
              .clone = RS_FAULT == FAULT_OLDER
                           ? (void* (*)(void*, const ringscope_config*))(uintptr_t)1
                           : CLONE,
              .visit_chunks = VISIT_CHUNKS,
              NEXT PROGRAMS},
    .unknown = NULL,
};

#if RS_FAULT == FAULT_NO_SYMBOL
#define ENTRY some_other_function
#else
#define ENTRY ringscope_get_plugin
#endif
RINGSCOPE_EXPORT const ringscope_plugin* ENTRY(uint32_t host_abi_version);
RINGSCOPE_EXPORT const ringscope_plugin* ENTRY(uint32_t host_abi_version) {
  if (RS_FAULT == FAULT_NULL_PLUGIN || host_abi_version < 1) return NULL;
  if (RS_FAULT == FAULT_EARLIER && host_abi_version != RINGSCOPE_ABI_VERSION) return NULL;
  return &kPlugin.known;
}
