/* The C interface between ringscope and a trace buffer that is built elsewhere: a plug-in.
 *
 * A plug-in is a shared object that exports one function, ringscope_get_plugin. ringscope loads it
 * where an engine's name is a path (`--engine ./libmybuffer.so`) and replays logs through it.
 *
 * Rules for all of it:
 * - Structs only ever grow at their end, and begin with struct_size, their size as the side that
 *   fills them was compiled. A reader looks at no more than that, and takes what is not there as 0.
 *   RINGSCOPE_ABI_VERSION changes only if that is not enough.
 * - Version 2 added: a bit for each report (RINGSCOPE_TELLS_COMMITTED and the following),
 *   RINGSCOPE_DISCARD_UNKNOWN, ringscope_commit.machine, ringscope_plugin.next, and the functions
 *   after it. ringscope takes plug-ins of version 1 as they are.
 * - A pointer to data of size 0, or to 0 items, may be NULL, in both directions.
 * - Calls for one buffer, its clones apart, never overlap. Different buffers may be used on
 *   different threads.
 * - What a pointer refers to is valid until the call returns, unless stated otherwise. No
 *   exception may leave a plug-in's function, and no callback throws into it.
 * - Numbers are the machine's own; all sizes and offsets are in bytes.
 */
#ifndef RINGSCOPE_PLUGIN_ABI_H_
#define RINGSCOPE_PLUGIN_ABI_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RINGSCOPE_ABI_VERSION 2u

/* Name and linkage of the one exported function. */
#define RINGSCOPE_ENTRY "ringscope_get_plugin"
#ifdef __cplusplus
#define RINGSCOPE_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define RINGSCOPE_EXPORT __attribute__((visibility("default")))
#endif

typedef struct ringscope_slice {
  const uint8_t* data;
  uint64_t size;
} ringscope_slice;

/* A writer of a producer; never both 0. */
typedef struct ringscope_sequence {
  uint16_t producer;
  uint16_t writer;
} ringscope_sequence;

/* One chunk on its way into the buffer. */
typedef struct ringscope_commit {
  uint32_t struct_size;
  ringscope_sequence sequence;
  uint32_t uid;
  int32_t pid; /* -1: unknown */
  uint32_t chunk;
  uint16_t fragments; /* as the chunk header counts them */
  uint8_t flags;      /* of the shared-memory ABI */
  uint8_t complete;   /* 0: scraped while the writer still had it */
  ringscope_slice payload;
  uint32_t machine; /* machine_id of the producer; 0: the service's own machine. Since version 2 */
  uint32_t reserved;
} ringscope_commit;

#define RINGSCOPE_PATCH_SIZE 4u

typedef struct ringscope_patch {
  uint64_t offset; /* from the payload's first byte */
  uint8_t data[RINGSCOPE_PATCH_SIZE];
} ringscope_patch;

/* The patches of one chunk. */
typedef struct ringscope_patches {
  uint32_t struct_size;
  ringscope_sequence sequence;
  uint32_t chunk;
  uint32_t more; /* not 0: further patches for this chunk will follow */
  const ringscope_patch* patches;
  uint64_t count;
} ringscope_patches;

/* A first_offset: the buffer does not show where this packet is. */
#define RINGSCOPE_PLACE_UNKNOWN UINT32_MAX
/* Where in its sequence a packet is. */
typedef struct ringscope_place {
  uint32_t first_chunk;  /* holds the packet's first fragment */
  uint32_t first_offset; /* of that fragment's size, from the payload's first byte */
  uint32_t last_chunk;   /* holds its last fragment */
} ringscope_place;

/* A packet that a read returns. ringscope sets struct_size and zeroes the rest. */
typedef struct ringscope_packet {
  uint32_t struct_size;
  ringscope_sequence sequence;
  uint32_t uid;
  int32_t pid;
  uint32_t dropped; /* previous_packet_dropped */
  uint32_t reserved;
  const ringscope_slice* slices; /* they and their bytes: valid until the buffer's next call */
  uint64_t slice_count;
  ringscope_place place; /* if the plug-in has RINGSCOPE_TELLS_PLACES */
} ringscope_packet;

/* BufferStats. ringscope sets struct_size and zeroes the rest; what a buffer does not count stays
 * 0. */
typedef struct ringscope_stats {
  uint32_t struct_size;
  uint32_t reserved; /* 0; in version 1 the upper half of struct_size */
  uint64_t buffer_size;
  uint64_t bytes_written;
  uint64_t bytes_overwritten;
  uint64_t bytes_read;
  uint64_t padding_bytes_written;
  uint64_t padding_bytes_cleared;
  uint64_t chunks_written;
  uint64_t chunks_rewritten;
  uint64_t chunks_relocated;
  uint64_t chunks_overwritten;
  uint64_t chunks_discarded;
  uint64_t chunks_read;
  uint64_t chunks_committed_out_of_order;
  uint64_t write_wrap_count;
  uint64_t patches_succeeded;
  uint64_t patches_failed;
  uint64_t readaheads_succeeded;
  uint64_t readaheads_failed;
  uint64_t abi_violations;
  uint64_t trace_writer_packet_loss;
} ringscope_stats;

/* How much one sequence put into its chunks, by size (Perfetto's WriterStats). Upper limits of the
 * buckets, inclusive: 8, 32, 128, 512, 1024, 2048, 4096, 8192, 12288, 16384; the last holds what is
 * larger. */
#define RINGSCOPE_WRITER_BUCKETS 11

typedef struct ringscope_writer {
  uint32_t struct_size;
  ringscope_sequence sequence;
  uint64_t sums[RINGSCOPE_WRITER_BUCKETS];   /* bytes of fragments, headers included */
  uint64_t counts[RINGSCOPE_WRITER_BUCKETS]; /* commits */
} ringscope_writer;

typedef void (*ringscope_writer_visitor)(void* context, const ringscope_writer* writer);

/* ---- What a buffer may report -------------------------------------------------------------- */

/* A chunk in the buffer. */
typedef struct ringscope_chunk {
  uint32_t struct_size;
  ringscope_sequence sequence; /* 0:0 for padding (visit_chunks) */
  uint32_t chunk;
  uint32_t outer_size;    /* occupied, header and alignment included */
  uint64_t offset;        /* of the chunk's header in the buffer */
  uint32_t payload_size;  /* of valid fragments */
  uint32_t payload_avail; /* of these, not consumed */
  uint8_t flags;
  uint8_t incomplete; /* not 0: the writer still has it */
  uint16_t reserved;
  uint32_t reserved_too;
  ringscope_slice payload; /* as stored, payload_size bytes; or none */
} ringscope_chunk;

typedef void (*ringscope_chunk_visitor)(void* context, const ringscope_chunk* chunk);

enum ringscope_discard_reason {
  RINGSCOPE_DISCARD_SEALED = 0,           /* discard mode, and a chunk did not fit before */
  RINGSCOPE_DISCARD_FULL = 1,             /* discard mode, and this one does not fit */
  RINGSCOPE_DISCARD_TOO_LARGE = 2,        /* larger than the whole buffer */
  RINGSCOPE_DISCARD_ALREADY_CONSUMED = 3, /* not newer than the chunk consumed last */
  RINGSCOPE_DISCARD_BAD_RECOMMIT = 4,     /* a re-commit that breaks the rules */
  RINGSCOPE_DISCARD_UNKNOWN = 5           /* the plug-in does not know. Since version 2 */
};

enum ringscope_stall_reason {
  RINGSCOPE_STALL_NEEDS_PATCH = 0,   /* a chunk of the packet waits for patches */
  RINGSCOPE_STALL_MISSING_CHUNK = 1, /* the packet continues in a chunk that is not committed yet */
  RINGSCOPE_STALL_INCOMPLETE = 2     /* the writer still has the chunk */
};

enum ringscope_patch_miss { RINGSCOPE_PATCH_NO_SUCH_CHUNK = 0, RINGSCOPE_PATCH_OUT_OF_BOUNDS = 1 };

/* Bits of previous_packet_dropped, also the causes below. PRESENT is set with every other. */
enum ringscope_loss {
  RINGSCOPE_LOSS_PRESENT = 1,
  RINGSCOPE_LOSS_READ_GAP = 2,
  RINGSCOPE_LOSS_CHUNK_CORRUPTED = 4,
  RINGSCOPE_LOSS_ORPHAN_CONTINUATION = 8,
  RINGSCOPE_LOSS_REASSEMBLY_GAP = 16,
  RINGSCOPE_LOSS_REASSEMBLY_BROKEN_CHAIN = 32,
  RINGSCOPE_LOSS_OVERWRITE = 64,
  RINGSCOPE_LOSS_WRITER_ABORT = 128
};

/* Callbacks through which a buffer reports what happens inside it, when it happens; `context` is
 * passed to every call. Any may be NULL. The block is valid until the buffer is destroyed. */
typedef struct ringscope_observer {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  void (*committed)(void* context, const ringscope_chunk* chunk);
  /* In place; `chunk` after the change. */
  void (*rewritten)(void* context, const ringscope_chunk* chunk);
  /* Taken out to be committed again elsewhere; `committed` or `discarded` follows. */
  void (*relocated)(void* context, const ringscope_chunk* chunk);
  /* `commit`: the one under way, as `by` below. */
  void (*discarded)(void* context, const ringscope_commit* commit, uint32_t reason);
  /* Its space is needed for the current commit; `chunk` before any fragment is consumed. */
  void (*evicting)(void* context, const ringscope_chunk* chunk, const ringscope_commit* by);
  /* Gone from the buffer: fully read, or cleared. Without RINGSCOPE_TELLS_GIVEN_UP,
   * chunk->payload_avail is what was not consumed when the call began in which the chunk left. What
   * leaves in a read is reported before that read's next_packet returns. */
  void (*erased)(void* context, const ringscope_chunk* chunk);
  /* `chunk` after the change. */
  void (*patched)(void* context, const ringscope_chunk* chunk, const ringscope_patches* patches);
  /* `chunk`: NULL if there is none. */
  void (*patch_missed)(void* context, const ringscope_chunk* chunk,
                       const ringscope_patches* patches, uint32_t miss);
  /* In a read, the packet that begins (or continues) at this place was consumed without being
   * returned; if corrupted, all that follows it in its chunk as well. */
  void (*packet_given_up)(void* context, ringscope_sequence sequence, const ringscope_place* place,
                          uint32_t cause);
  void (*loss_bit)(void* context, ringscope_sequence sequence, uint32_t chunk, uint32_t bit);
  void (*wrap)(void* context);
  void (*padding)(void* context, uint64_t offset, uint32_t size);
  void (*stalled)(void* context, ringscope_sequence sequence, uint32_t chunk, uint32_t reason);
} ringscope_observer;

/* ---- Programs (ProtoVM) -------------------------------------------------------------------- */

/* A data source's program, to be run on the packets of a producer that the buffer overwrites before
 * they are read. Data sources of the same name and program share a VM. */
typedef struct ringscope_vm_setup {
  uint32_t struct_size;
  uint32_t memory_limit_kb;    /* of the state */
  ringscope_slice data_source; /* its name */
  ringscope_slice program;     /* a VmProgram message */
  uint16_t producer;
  uint16_t reserved[3];
} ringscope_vm_setup;

/* A VM of a buffer. */
typedef struct ringscope_vm {
  uint32_t struct_size;
  uint32_t memory_limit_kb;
  ringscope_slice data_source;
  ringscope_slice program;
  ringscope_slice state;     /* as the service writes it into the trace */
  uint64_t memory;           /* bytes counted against the limit */
  const uint16_t* producers; /* ascending */
  uint64_t producer_count;
} ringscope_vm;

typedef void (*ringscope_vm_visitor)(void* context, const ringscope_vm* vm);

/* ---- The plug-in --------------------------------------------------------------------------- */

enum ringscope_policy { RINGSCOPE_POLICY_RING_BUFFER = 0, RINGSCOPE_POLICY_DISCARD = 1 };

/* What a buffer is made from. */
typedef struct ringscope_config {
  uint32_t struct_size;
  uint32_t policy; /* ringscope_policy */
  uint64_t size;   /* as asked for; round it as your version does */
  /* Reports that the buffer cannot continue: ringscope then ends the replay with that message.
   * Both stay valid until the buffer is destroyed, or until `create` or `clone` returned NULL. */
  void (*fail)(void* host, const char* message);
  void* host;
  const ringscope_observer* observer; /* NULL: none */
} ringscope_config;

/* What a plug-in reports: bits of ringscope_plugin.tells. What it does not report is unknown to
 * ringscope, which concludes nothing from its absence. */
#define RINGSCOPE_TELLS_EVENTS 1u /* it calls the observer for all that happens: all bits below */
#define RINGSCOPE_TELLS_PLACES 2u /* each packet comes with its place */
/* Since version 2: it makes this call of the observer whenever there is reason to. */
#define RINGSCOPE_TELLS_COMMITTED 0x100u
#define RINGSCOPE_TELLS_REWRITTEN 0x200u
#define RINGSCOPE_TELLS_RELOCATED 0x400u
#define RINGSCOPE_TELLS_DISCARDED 0x800u
#define RINGSCOPE_TELLS_EVICTING 0x1000u
#define RINGSCOPE_TELLS_ERASED 0x2000u
#define RINGSCOPE_TELLS_PATCHED 0x4000u
#define RINGSCOPE_TELLS_PATCH_MISSED 0x8000u
#define RINGSCOPE_TELLS_GIVEN_UP 0x10000u
#define RINGSCOPE_TELLS_LOSS_BIT 0x20000u
#define RINGSCOPE_TELLS_WRAP 0x40000u
#define RINGSCOPE_TELLS_PADDING 0x80000u
#define RINGSCOPE_TELLS_STALLED 0x100000u
/* These are of use together only: with one of them missing ringscope does not know what is in the
 * buffer, and ignores the others, relocated and evicting too (discarded counts by itself). A buffer
 * that never rewrites or never relocates chunks reports all of that. */
#define RINGSCOPE_TELLS_CHUNKS                                                         \
  (RINGSCOPE_TELLS_COMMITTED | RINGSCOPE_TELLS_REWRITTEN | RINGSCOPE_TELLS_DISCARDED | \
   RINGSCOPE_TELLS_ERASED | RINGSCOPE_TELLS_PATCHED)

/* The plug-in's functions; `buffer` is what `create` or `clone` returned. */
typedef struct ringscope_plugin {
  uint32_t struct_size;
  uint32_t abi_version;    /* RINGSCOPE_ABI_VERSION */
  const char* name;        /* "mybuffer" */
  const char* version;     /* "2.1, commit 1a2b3c"; may be NULL */
  const char* description; /* what sets it apart, a sentence; may be NULL */
  uint64_t tells;          /* RINGSCOPE_TELLS_* */

  /* Mandatory from here on. */

  /* NULL: failed; report why with config->fail. */
  void* (*create)(const ringscope_config* config);
  void (*destroy)(void* buffer);
  void (*commit)(void* buffer, const ringscope_commit* commit);
  /* Returns whether all patches were applied, 1 or 0. */
  int (*patch)(void* buffer, const ringscope_patches* patches);
  /* Begins a read pass. It is not continued after a commit or a patch. */
  void (*begin_read)(void* buffer);
  /* The next packet of the pass: 1; nothing left: 0. Each packet is returned once. */
  int (*next_packet)(void* buffer, ringscope_packet* packet);
  void (*stats)(void* buffer, ringscope_stats* stats);

  /* Optional from here on: NULL, or not there at all. */

  /* A copy to be read only: what is consumed stays consumed. config->observer is NULL. NULL:
   * failed; report why with config->fail. */
  void* (*clone)(void* buffer, const ringscope_config* config);
  /* Calls `visit` once for each sequence whose histogram the buffer has: the sequences of
   * Perfetto's writer_stats, in its order. (V2 has those that committed, in order of first commit,
   * and a clone of it none; V1 has those of which a whole chunk was read.) ringscope shows what is
   * listed, and requires none. */
  void (*visit_writers)(void* buffer, ringscope_writer_visitor visit, void* context);
  /* Checks the buffer's own structures, for tests and fuzzers. What is wrong, or NULL; valid until
   * the buffer's next call. */
  const char* (*check)(void* buffer);
  /* The layout: calls `visit` for what is in the buffer, chunks and padding, in order of offsets.
   * What they leave out was never written. Returns the write cursor: where the next chunk goes,
   * unless it does not fit there. */
  uint64_t (*visit_chunks)(void* buffer, ringscope_chunk_visitor visit, void* context);

  /* Since version 2: a further buffer in the same shared object, under a name of its own; NULL:
   * none. Commands call it by the file and that name, as in --engine ./libmybuffer.so:v1; the file
   * alone means the first. */
  const struct ringscope_plugin* next;

  /* Optional, and of use together only: the buffer runs the programs of data sources itself. A
   * clone has those of its original, as they are when it is made. */

  /* Returns 1: it runs the program from now on; 0: it does not. */
  int (*set_up_vm)(void* buffer, const ringscope_vm_setup* setup);
  /* Calls `visit` for each VM, in order of creation. */
  void (*visit_vms)(void* buffer, ringscope_vm_visitor visit, void* context);
} ringscope_plugin;

/* The exported function's type. `host_abi_version` is ringscope's, for a plug-in that can serve
 * several; if it returns NULL, it is called with each earlier version. The struct stays where it is
 * while the plug-in is loaded. */
typedef const ringscope_plugin* (*ringscope_get_plugin_function)(uint32_t host_abi_version);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RINGSCOPE_PLUGIN_ABI_H_ */
