/*
 * cuzk: Groth16 proofs for Filecoin's circuits (PoRep, SnapDeals, WindowPoSt, WinningPoSt), made in the caller's process.
 *
 * Written by `make header` from src/ffi/. The contract:
 *
 * Calls. A function returns a CUZK_ status and, through `error` unless that is NULL, the same status with a message. The
 * message belongs to the caller and is freed with cuzk_free; what was in `error` before is overwritten, not freed. Outputs
 * are written if the call returns CUZK_OK. No panic and no C++ exception leaves a call: what would have been one is
 * CUZK_INTERNAL. All functions may be called from any thread at any time.
 *
 * Memory. A pointer with a length is borrowed for the call: everything is copied before it returns. (NULL, 0) is empty,
 * (NULL, n) is CUZK_INVALID. A cuzk_buffer_t belongs to the caller until cuzk_free, which never looks at its address or
 * length: freeing twice is harmless, freeing a copy twice is CUZK_INVALID.
 *
 * Engines are numbers, not pointers, and never given twice: 0 and numbers that were never given are CUZK_INVALID, those of
 * engines that are closed CUZK_CLOSED. One engine may be open in a process at a time.
 *
 * Versions. A struct that starts with struct_size may grow at its end. The caller sets it to the size that it was compiled
 * with; of a smaller one only that many bytes are read or written (events and statistics need their first version's size),
 * and the missing fields are 0. Of a larger one the unknown fields must be 0. Fields named reserved must be 0. The other
 * structs, the numbers and the signatures never change under one CUZK_ABI_VERSION.
 *
 * The host. The library writes no file outside cache_dir, no environment variable, nothing to stdout or stderr; it opens no
 * socket, sets no signal handler, and starts threads only between cuzk_engine_open and cuzk_engine_close, and in cuzk_verify
 * while that runs. Logs, panics and health are events: whoever opens an engine takes them with cuzk_engine_next. Text is
 * UTF-8 without a final 0.
 *
 * A request's way: cuzk_engine_submit, then a completion from cuzk_engine_next with the caller's tag. Tags route events and
 * are unique among what is unfinished; labels stand in logs only. Every proof was checked by pairing before it is returned.
 */

#ifndef CUZK_H
#define CUZK_H
#ifdef __cplusplus
extern "C" {
#endif


#include <stddef.h>
#include <stdint.h>

/** \brief
 *  Names the build: version, flavour, digest of the sources. Static, ends in a 0. Doesn't block.
 */
char const *
cuzk_build_id (void);

/** \brief
 *  Header and archive are of different versions.
 */
#define CUZK_ABI_MISMATCH ((uint32_t) 8)

/** \brief
 *  Version of this header. cuzk_engine_open compares it with the archive's.
 */
#define CUZK_ABI_VERSION ((uint32_t) 1)

/** \brief
 *  An engine is open in this process already.
 */
#define CUZK_ALREADY_OPEN ((uint32_t) 7)

/** \brief
 *  CUDA if it is built in, else the CPU.
 */
#define CUZK_BACKEND_AUTO ((uint32_t) 0)

/** \brief
 *  The host's cores.
 */
#define CUZK_BACKEND_CPU ((uint32_t) 1)

/** \brief
 *  CUDA; opening fails with NO_DEVICE if it isn't built in or finds no device.
 */
#define CUZK_BACKEND_CUDA ((uint32_t) 2)

/** \brief
 *  The assignment doesn't satisfy the R1CS.
 */
#define CUZK_BAD_WITNESS ((uint32_t) 15)

/** \brief
 *  A queue is full; retry later.
 */
#define CUZK_BUSY ((uint32_t) 3)

/** \brief
 *  Cancelled by the caller.
 */
#define CUZK_CANCELLED ((uint32_t) 4)

/** \brief
 *  The engine or circuit is closed.
 */
#define CUZK_CLOSED ((uint32_t) 6)

/** \brief
 *  In cpu_fallback: no kind.
 */
#define CUZK_CPU_FALLBACK_NONE ((uint32_t) 2147483648)

/** \brief
 *  The deadline passed first.
 */
#define CUZK_DEADLINE ((uint32_t) 5)

/** \brief
 *  Proves.
 */
#define CUZK_DEVICE_HEALTHY ((uint32_t) 0)

/** \brief
 *  A device failed for good; only a restart of the process clears it.
 */
#define CUZK_DEVICE_LOST ((uint32_t) 13)

/** \brief
 *  Failed for good; only a restart of the process clears it.
 */
#define CUZK_DEVICE_LOST_STATE ((uint32_t) 2)

/** \brief
 *  Hung; gets nothing more to do.
 */
#define CUZK_DEVICE_QUARANTINED ((uint32_t) 1)

/** \brief
 *  Panicked again and again; gets nothing more to do.
 */
#define CUZK_DEVICE_RETIRED ((uint32_t) 3)

/** \brief
 *  A request, preload, evict or trim has ended. Exactly one for each that was accepted; never dropped.
 */
#define CUZK_EVENT_COMPLETION ((uint32_t) 1)

/** \brief
 *  The engine's health has changed.
 */
#define CUZK_EVENT_HEALTH ((uint32_t) 4)

/** \brief
 *  A log record. Dropped, and counted, if nobody takes events.
 */
#define CUZK_EVENT_LOG ((uint32_t) 2)

/** \brief
 *  Nothing happened before the timeout.
 */
#define CUZK_EVENT_NONE ((uint32_t) 0)

/** \brief
 *  How far a preload is, in percent.
 */
#define CUZK_EVENT_PROGRESS ((uint32_t) 3)

/** \brief
 *  Proofs are made, but something went wrong or is missing; an operator should look.
 */
#define CUZK_HEALTH_DEGRADED ((uint32_t) 1)

/** \brief
 *  No device is left: only a restart of the process helps.
 */
#define CUZK_HEALTH_FATAL ((uint32_t) 2)

/** \brief
 *  All is well.
 */
#define CUZK_HEALTH_OK ((uint32_t) 0)

/** \brief
 *  A bug or an unexpected fault of the system; the process lives on.
 */
#define CUZK_INTERNAL ((uint32_t) 17)

/** \brief
 *  A field of the request is wrong; the message names it. A retry can't help.
 */
#define CUZK_INVALID ((uint32_t) 1)

/** \brief
 *  PoRep C2.
 */
#define CUZK_KIND_POREP ((uint32_t) 1)

/** \brief
 *  SnapDeals.
 */
#define CUZK_KIND_UPDATE ((uint32_t) 2)

/** \brief
 *  WindowPoSt.
 */
#define CUZK_KIND_WINDOW_POST ((uint32_t) 3)

/** \brief
 *  WinningPoSt.
 */
#define CUZK_KIND_WINNING_POST ((uint32_t) 4)

/** \brief
 *  What a developer wants to know.
 */
#define CUZK_LOG_DEBUG ((uint32_t) 4)

/** \brief
 *  The default.
 */
#define CUZK_LOG_DEFAULT ((uint32_t) 0)

/** \brief
 *  Something failed.
 */
#define CUZK_LOG_ERROR ((uint32_t) 1)

/** \brief
 *  What an operator wants to know.
 */
#define CUZK_LOG_INFO ((uint32_t) 3)

/** \brief
 *  Everything.
 */
#define CUZK_LOG_TRACE ((uint32_t) 5)

/** \brief
 *  Something is wrong, and was dealt with.
 */
#define CUZK_LOG_WARN ((uint32_t) 2)

/** \brief
 *  No usable device.
 */
#define CUZK_NO_DEVICE ((uint32_t) 12)

/** \brief
 *  Success.
 */
#define CUZK_OK ((uint32_t) 0)

/** \brief
 *  A byte budget is exhausted; the message names it.
 */
#define CUZK_OUT_OF_MEMORY ((uint32_t) 14)

/** \brief
 *  A `.params` or cache file is damaged; the message names file, section and index.
 */
#define CUZK_PARAMS_CORRUPT ((uint32_t) 10)

/** \brief
 *  A `.params` file was not found; the message lists what was searched.
 */
#define CUZK_PARAMS_MISSING ((uint32_t) 9)

/** \brief
 *  The verifying key isn't one of the network's.
 */
#define CUZK_PARAMS_UNKNOWN ((uint32_t) 11)

/** \brief
 *  A proof of a satisfied assignment failed its pairing check.
 */
#define CUZK_SELF_CHECK ((uint32_t) 16)

/** \brief
 *  The file's digest is the one that the network published, too.
 */
#define CUZK_SRS_CHECK_DIGEST ((uint32_t) 2)

/** \brief
 *  Sizes, curve and identity.
 */
#define CUZK_SRS_CHECK_ON_CURVE ((uint32_t) 0)

/** \brief
 *  Every point of every section is in the prime-order subgroup, too.
 */
#define CUZK_SRS_CHECK_SUBGROUP ((uint32_t) 1)

/** \brief
 *  cuzk_engine_evict.
 */
#define CUZK_TASK_EVICT ((uint32_t) 3)

/** \brief
 *  cuzk_engine_preload.
 */
#define CUZK_TASK_PRELOAD ((uint32_t) 2)

/** \brief
 *  A proof.
 */
#define CUZK_TASK_PROVE ((uint32_t) 1)

/** \brief
 *  cuzk_engine_trim.
 */
#define CUZK_TASK_TRIM ((uint32_t) 4)

/** \brief
 *  Well-formed, but not offered.
 */
#define CUZK_UNSUPPORTED ((uint32_t) 2)

/** \brief
 *  CUZK_ABI_VERSION of the archive. Doesn't block.
 */
uint32_t
cuzk_abi_version (void);

/** \brief
 *  Owned by the caller until `cuzk_free`: `len` bytes at `ptr`. All fields are 0 if it is empty.
 */
typedef struct cuzk_buffer {
    /** \brief
     *  First byte.
     */
    uint8_t * ptr;

    /** \brief
     *  Bytes.
     */
    uint64_t len;

    /** \brief
     *  Names the buffer in this process; never used again.
     */
    uint64_t id;
} cuzk_buffer_t;

/** \brief
 *  How a call ended. Written by every call that is given one; what was in it is overwritten, not freed.
 */
typedef struct cuzk_error {
    /** \brief
     *  The status that the call returned.
     */
    uint32_t status;

    /** \brief
     *  0.
     */
    uint32_t reserved;

    /** \brief
     *  Says what is wrong, and where; UTF-8, without a final 0. Empty on success.
     */
    cuzk_buffer_t message;
} cuzk_error_t;

/** \brief
 *  Ends an unfinished request with CANCELLED: its completion is there when this returns, and its memory comes back soon
 *  after. A tag that isn't in use: nothing happens. Doesn't block. Errors: INVALID, CLOSED.
 */
uint32_t
cuzk_engine_cancel (
    uint64_t engine,
    uint64_t tag,
    cuzk_error_t * error);

/** \brief
 *  Ends every unfinished request with CLOSED and stops the engine's threads; from then on its number is CLOSED for every
 *  function. Calls of cuzk_engine_next that wait return.
 *
 *  Blocks until the threads have ended, 5 s at most.
 *  Errors: INVALID, CLOSED (a second time); INTERNAL names a thread that hangs in a call and was left behind.
 */
uint32_t
cuzk_engine_close (
    uint64_t engine,
    cuzk_error_t * error);

/** \brief
 *  What a proof of a kind and size needs, in bytes.
 */
typedef struct cuzk_cost {
    /** \brief
     *  sizeof(cuzk_cost_t).
     */
    uint64_t struct_size;

    /** \brief
     *  Host memory while one request is under way and nothing else.
     */
    uint64_t host_bytes;

    /** \brief
     *  Pinned host memory, part of the host memory.
     */
    uint64_t pinned_bytes;

    /** \brief
     *  Device memory that makes it fast.
     */
    uint64_t device_bytes;

    /** \brief
     *  The `.params` file, and the recorded circuit in the cache.
     */
    uint64_t disk_bytes;
} cuzk_cost_t;

/** \brief
 *  Writes what a request of this kind and sector size needs on this engine to `cost`. The caller sets cost->struct_size.
 *  Doesn't block. Errors: INVALID, UNSUPPORTED (no such size), CLOSED.
 */
uint32_t
cuzk_engine_cost (
    uint64_t engine,
    uint32_t kind,
    uint64_t sector_size,
    cuzk_cost_t * cost,
    cuzk_error_t * error);

/** \brief
 *  Unloads a circuit everywhere, once no request uses it. Ends in a completion, also if it wasn't loaded. Doesn't block.
 *  Errors: INVALID, UNSUPPORTED (no such size), CLOSED.
 */
uint32_t
cuzk_engine_evict (
    uint64_t engine,
    uint32_t kind,
    uint64_t sector_size,
    uint64_t tag,
    cuzk_error_t * error);

/** \brief
 *  Something that happened. All-zero fields don't belong to its kind.
 */
typedef struct cuzk_event {
    /** \brief
     *  sizeof(cuzk_event_t).
     */
    uint64_t struct_size;

    /** \brief
     *  A CUZK_EVENT_ number.
     */
    uint32_t kind;

    /** \brief
     *  Completion: how it ended.
     */
    uint32_t status;

    /** \brief
     *  Completion, progress: the caller's tag.
     */
    uint64_t tag;

    /** \brief
     *  The engine's number of the job; 0 if there is none.
     */
    uint64_t job;

    /** \brief
     *  When, in nanoseconds since 1970.
     */
    uint64_t time_ns;

    /** \brief
     *  Log: its CUZK_LOG_ level.
     */
    uint32_t level;

    /** \brief
     *  Health: the new CUZK_HEALTH_ number.
     */
    uint32_t health;

    /** \brief
     *  Progress: done so far, of `total`. Never falls.
     */
    uint64_t done;

    /** \brief
     *  Progress: what `done` reaches.
     */
    uint64_t total;

    /** \brief
     *  Completion, progress: the circuit's CUZK_KIND_ number; 0 if there is none.
     */
    uint32_t circuit_kind;

    /** \brief
     *  Completion: the CUZK_TASK_ number of what has ended.
     */
    uint32_t task;

    /** \brief
     *  Completion, progress: bytes of a sector.
     */
    uint64_t sector_size;

    /** \brief
     *  Completion of a proof: its partitions.
     */
    uint64_t partition_count;

    /** \brief
     *  Completion of a proof: constraints of a partition.
     */
    uint64_t constraint_count;

    /** \brief
     *  Completion of a proof: partitions that were proved again.
     */
    uint64_t redo_count;

    /** \brief
     *  Completion of a proof: nanoseconds from its submission to its end.
     */
    uint64_t total_ns;

    /** \brief
     *  Completion of a proof: nanoseconds in each phase, summed over partitions, which overlap. Waiting for its turn.
     */
    uint64_t queue_ns;

    /** \brief
     *  Waiting for SRS and R1CS.
     */
    uint64_t open_ns;

    /** \brief
     *  Decoding and checking vanilla proofs.
     */
    uint64_t check_ns;

    /** \brief
     *  From vanilla proofs to assignments.
     */
    uint64_t synthesis_ns;

    /** \brief
     *  Waiting for a device.
     */
    uint64_t wait_ns;

    /** \brief
     *  On a device.
     */
    uint64_t prove_ns;

    /** \brief
     *  Blinding, assembly, pairing check.
     */
    uint64_t finish_ns;

    /** \brief
     *  Completion of a proof: 192 bytes a partition. To be freed.
     */
    cuzk_buffer_t proof;

    /** \brief
     *  Log, health: text. Completion: why it failed. To be freed.
     */
    cuzk_buffer_t message;

    /** \brief
     *  Log: the module it comes from. To be freed.
     */
    cuzk_buffer_t target;
} cuzk_event_t;

/** \brief
 *  Takes the next event: waits for it `timeout_ms` milliseconds at most, UINT64_MAX without end. Without one, the event's
 *  kind is CUZK_EVENT_NONE.
 *
 *  Shapes: event->struct_size is set by the caller; the rest is written if the call returns OK.
 *  Ownership: the event's buffers are to be freed. Taking a completion frees its tag and its place in the queue.
 *  Threads: any number may wait; each event goes to one of them.
 *  Errors: INVALID, CLOSED.
 */
uint32_t
cuzk_engine_next (
    uint64_t engine,
    uint64_t timeout_ms,
    cuzk_event_t * event,
    cuzk_error_t * error);

/** \brief
 *  Borrowed for the call: `len` bytes at `ptr`. (NULL, 0) is empty; (NULL, n) is INVALID.
 */
typedef struct cuzk_bytes {
    /** \brief
     *  First byte.
     */
    uint8_t const * ptr;

    /** \brief
     *  Bytes.
     */
    uint64_t len;
} cuzk_bytes_t;

/** \brief
 *  What an engine is opened with. All-zero fields mean their defaults.
 */
typedef struct cuzk_config {
    /** \brief
     *  sizeof(cuzk_config_t).
     */
    uint64_t struct_size;

    /** \brief
     *  CUZK_ABI_VERSION of the header that the caller was compiled with.
     */
    uint32_t abi_version;

    /** \brief
     *  A CUZK_BACKEND_ number. Default: CUDA if it is built in, else the CPU.
     */
    uint32_t backend;

    /** \brief
     *  Directories of `.params` files, UTF-8 paths. Default: the environment's FIL_PROOFS_PARAMETER_CACHE, or
     *  /var/tmp/filecoin-proof-parameters.
     */
    cuzk_bytes_t const * param_dirs;

    /** \brief
     *  Elements of `param_dirs`.
     */
    uint64_t param_dir_count;

    /** \brief
     *  Directory of recorded circuits and finished checks, made when it is first written to; nothing is written
     *  elsewhere. Default: none; each process then records each circuit anew.
     */
    cuzk_bytes_t cache_dir;

    /** \brief
     *  UUIDs of the devices to use; naming some is an error where the back end is the CPU. Default: all.
     */
    cuzk_bytes_t const * devices;

    /** \brief
     *  Elements of `devices`.
     */
    uint64_t device_count;

    /** \brief
     *  UUIDs of devices that prove WinningPoSts alone; the same holds for them. Default: none.
     */
    cuzk_bytes_t const * reserved_devices;

    /** \brief
     *  Elements of `reserved_devices`.
     */
    uint64_t reserved_device_count;

    /** \brief
     *  Budget of host memory in bytes. Default: 80 % of the cgroup's limit or of the machine's memory.
     */
    uint64_t host_memory_bytes;

    /** \brief
     *  Budget of pinned memory in bytes, for all devices together. Default: 1 GiB.
     */
    uint64_t pinned_memory_bytes;

    /** \brief
     *  Budget per device in bytes. Default: what is free when it is opened, less 1 GiB.
     */
    uint64_t device_memory_bytes;

    /** \brief
     *  Bytes of each device's memory that only a WinningPoSt may use. Default: 1 GiB.
     */
    uint64_t device_reserve_bytes;

    /** \brief
     *  Threads that synthesise and, on the CPU back end, prove. Default: the CPUs that machine and cgroup allow.
     */
    uint32_t threads;

    /** \brief
     *  Most unfinished PoRep and SnapDeals requests; one counts until its completion is taken. WindowPoSts and
     *  WinningPoSts have as many places each, 64 at least. Default: 256.
     */
    uint32_t queue_len;

    /** \brief
     *  A CUZK_SRS_CHECK_ number: how far an SRS is checked before it is used. Default: CUZK_SRS_CHECK_ON_CURVE.
     */
    uint32_t srs_check;

    /** \brief
     *  Log records at this CUZK_LOG_ level and above become events. Default: CUZK_LOG_INFO.
     */
    uint32_t log_level;

    /** \brief
     *  Kinds proved on the CPU when no device can: bits 1 << CUZK_KIND_x, or CUZK_CPU_FALLBACK_NONE.
     *  Default: WinningPoSt.
     */
    uint32_t cpu_fallback;

    /** \brief
     *  1 accepts an SRS that isn't the network's. Default: 0.
     */
    uint32_t allow_unknown_params;

    /** \brief
     *  0.
     */
    uint64_t reserved_0;

    /** \brief
     *  0.
     */
    uint64_t reserved_1;

    /** \brief
     *  0.
     */
    uint64_t reserved_2;

    /** \brief
     *  0.
     */
    uint64_t reserved_3;
} cuzk_config_t;

/** \brief
 *  Opens the process's engine and writes its number to `engine`; 0 on failure.
 *
 *  Blocks as long as devices take to open; opens no circuit. One engine at a time.
 *  Errors: ABI_MISMATCH; INVALID names a field of `config`; ALREADY_OPEN; NO_DEVICE; INTERNAL (threads).
 */
uint32_t
cuzk_engine_open (
    cuzk_config_t const * config,
    uint64_t * engine,
    cuzk_error_t * error);

/** \brief
 *  Opens a circuit, and loads it on the devices that prove it. Ends in a completion, with progress events before.
 *  Doesn't block. Errors: INVALID, UNSUPPORTED (no such size), CLOSED; in the completion those of opening and loading.
 */
uint32_t
cuzk_engine_preload (
    uint64_t engine,
    uint32_t kind,
    uint64_t sector_size,
    uint64_t tag,
    cuzk_error_t * error);

/** \brief
 *  Requests of one kind. Counters never fall; gauges are 0 when nothing is under way.
 */
typedef struct cuzk_kind_stats {
    /** \brief
     *  Counter: accepted.
     */
    uint64_t submitted;

    /** \brief
     *  Counter: refused with BUSY.
     */
    uint64_t refused;

    /** \brief
     *  Counter: ended with a proof.
     */
    uint64_t proved;

    /** \brief
     *  Counter: ended with an error that isn't counted below.
     */
    uint64_t failed;

    /** \brief
     *  Counter: cancelled by the caller.
     */
    uint64_t cancelled;

    /** \brief
     *  Counter: ended with DEADLINE.
     */
    uint64_t late;

    /** \brief
     *  Gauge: accepted, not begun.
     */
    uint64_t queued;

    /** \brief
     *  Gauge: begun, not ended.
     */
    uint64_t running;
} cuzk_kind_stats_t;

/** \brief
 *  Time spent in one phase.
 */
typedef struct cuzk_phase_stats {
    /** \brief
     *  Counter: observations.
     */
    uint64_t count;

    /** \brief
     *  Counter: their sum in nanoseconds.
     */
    uint64_t sum_ns;

    /** \brief
     *  The longest so far in nanoseconds.
     */
    uint64_t max_ns;
} cuzk_phase_stats_t;

/** \brief
 *  One pool of memory.
 */
typedef struct cuzk_pool_stats {
    /** \brief
     *  "host", "pinned", or the device's name.
     */
    cuzk_bytes_t name;

    /** \brief
     *  Budget in bytes.
     */
    uint64_t total_bytes;

    /** \brief
     *  Gauge: bytes in use or reserved.
     */
    uint64_t used_bytes;

    /** \brief
     *  The most that was ever in use or reserved at once.
     */
    uint64_t peak_bytes;
} cuzk_pool_stats_t;

/** \brief
 *  One device.
 */
typedef struct cuzk_device_stats {
    /** \brief
     *  Name in logs.
     */
    cuzk_bytes_t name;

    /** \brief
     *  UUID; empty for the CPU.
     */
    cuzk_bytes_t uuid;

    /** \brief
     *  A CUZK_DEVICE_ number.
     */
    uint32_t state;

    /** \brief
     *  1 if it proves WinningPoSts alone.
     */
    uint32_t reserved_for_winning;

    /** \brief
     *  Gauge: 1 if its thread is inside the back end.
     */
    uint64_t busy;

    /** \brief
     *  Counter: nanoseconds inside the back end.
     */
    uint64_t busy_ns;

    /** \brief
     *  Counter: partitions proved, whether or not they passed their check.
     */
    uint64_t partition_count;

    /** \brief
     *  Gauge: circuits resident.
     */
    uint64_t circuit_count;
} cuzk_device_stats_t;

/** \brief
 *  A circuit.
 */
typedef struct cuzk_circuit {
    /** \brief
     *  A CUZK_KIND_ number.
     */
    uint64_t kind;

    /** \brief
     *  Bytes of a sector.
     */
    uint64_t sector_size;
} cuzk_circuit_t;

/** \brief
 *  Time of one phase of a device's proofs, by the device's own clock.
 */
typedef struct cuzk_device_phase {
    /** \brief
     *  Which of the devices: an index into `devices`.
     */
    uint64_t device;

    /** \brief
     *  "upload", "rows", "quotient", "h", "ones", "a" or "b".
     */
    cuzk_bytes_t name;

    /** \brief
     *  Partitions that went through it.
     */
    cuzk_phase_stats_t time;
} cuzk_device_phase_t;

/** \brief
 *  State of an engine at one moment.
 */
typedef struct cuzk_stats {
    /** \brief
     *  sizeof(cuzk_stats_t).
     */
    uint64_t struct_size;

    /** \brief
     *  A CUZK_HEALTH_ number.
     */
    uint64_t health;

    /** \brief
     *  Why health isn't OK.
     */
    cuzk_bytes_t health_reasons;

    /** \brief
     *  PoRep.
     */
    cuzk_kind_stats_t porep;

    /** \brief
     *  SnapDeals.
     */
    cuzk_kind_stats_t update;

    /** \brief
     *  WindowPoSt.
     */
    cuzk_kind_stats_t window_post;

    /** \brief
     *  WinningPoSt.
     */
    cuzk_kind_stats_t winning_post;

    /** \brief
     *  Requests: waiting for their turn.
     */
    cuzk_phase_stats_t queue;

    /** \brief
     *  Requests: waiting for SRS and R1CS.
     */
    cuzk_phase_stats_t open;

    /** \brief
     *  Requests: decoding and checking vanilla proofs.
     */
    cuzk_phase_stats_t check;

    /** \brief
     *  Partitions: from vanilla proofs to assignments.
     */
    cuzk_phase_stats_t synthesis;

    /** \brief
     *  Partitions: waiting for a device.
     */
    cuzk_phase_stats_t wait;

    /** \brief
     *  Partitions: on a device.
     */
    cuzk_phase_stats_t prove;

    /** \brief
     *  Partitions: blinding, assembly, pairing check.
     */
    cuzk_phase_stats_t finish;

    /** \brief
     *  Counter: partitions whose proof passed its check.
     */
    uint64_t partitions_proved;

    /** \brief
     *  Counter: batches handed to a back end.
     */
    uint64_t batches;

    /** \brief
     *  Counter: partitions that were proved again.
     */
    uint64_t redos;

    /** \brief
     *  Counter: pairing checks that failed.
     */
    uint64_t self_check_failures;

    /** \brief
     *  Counter: failed checks whose assignment didn't satisfy the R1CS.
     */
    uint64_t unsatisfied;

    /** \brief
     *  Counter: requests that ended with INTERNAL.
     */
    uint64_t internal_errors;

    /** \brief
     *  Counter: panics that were caught.
     */
    uint64_t panics;

    /** \brief
     *  Counter: devices that were lost or hung.
     */
    uint64_t device_faults;

    /** \brief
     *  Counter: batches and loads that a back end refused for want of memory.
     */
    uint64_t out_of_memory;

    /** \brief
     *  Counter: requests proved on the CPU because no device could.
     */
    uint64_t cpu_fallbacks;

    /** \brief
     *  Counter: times a batch or load stood back for a more urgent proof.
     */
    uint64_t interruptions;

    /** \brief
     *  Counter: partitions taken back from a batch for a more urgent proof.
     */
    uint64_t abandoned;

    /** \brief
     *  Counter: circuits opened on the host.
     */
    uint64_t opens;

    /** \brief
     *  Counter: circuits loaded by a back end.
     */
    uint64_t loads;

    /** \brief
     *  Counter: circuits unloaded by a back end.
     */
    uint64_t unloads;

    /** \brief
     *  Counter: log records that were dropped because nobody took events.
     */
    uint64_t logs_dropped;

    /** \brief
     *  Gauge: partitions being synthesised.
     */
    uint64_t synthesising;

    /** \brief
     *  Gauge: partitions that wait for a device.
     */
    uint64_t waiting_for_device;

    /** \brief
     *  Gauge: partitions on a device.
     */
    uint64_t proving;

    /** \brief
     *  Gauge: completions that nobody has taken yet.
     */
    uint64_t events_waiting;

    /** \brief
     *  Memory by pool: host, pinned, then one per device.
     */
    cuzk_pool_stats_t const * pools;

    /** \brief
     *  Elements of `pools`.
     */
    uint64_t pool_count;

    /** \brief
     *  Devices, the CPU included.
     */
    cuzk_device_stats_t const * devices;

    /** \brief
     *  Elements of `devices`.
     */
    uint64_t device_count;

    /** \brief
     *  Circuits that are resident on a device or open on the host.
     */
    cuzk_circuit_t const * resident;

    /** \brief
     *  Elements of `resident`.
     */
    uint64_t resident_count;

    /** \brief
     *  Phases of the devices' proofs, all of the first device before those of the next; none for the CPU.
     */
    cuzk_device_phase_t const * device_phases;

    /** \brief
     *  Elements of `device_phases`.
     */
    uint64_t device_phase_count;

    /** \brief
     *  Counter of the whole process: calls that took device memory, pinned memory, a stream or an event from the driver.
     *  Stands still once all circuits in use were proved twice.
     */
    uint64_t driver_calls;

    /** \brief
     *  What the pointers above lead to. To be freed; they are valid until then.
     */
    cuzk_buffer_t owned;
} cuzk_stats_t;

/** \brief
 *  Writes counters, gauges and health to `stats`. The caller sets stats->struct_size; its buffers are to be freed.
 *  Doesn't block. Errors: INVALID, CLOSED.
 */
uint32_t
cuzk_engine_stats (
    uint64_t engine,
    cuzk_stats_t * stats,
    cuzk_error_t * error);

/** \brief
 *  A PoRep C2.
 */
typedef struct cuzk_porep {
    /** \brief
     *  sizeof(cuzk_porep_t).
     */
    uint64_t struct_size;

    /** \brief
     *  Miner's actor id.
     */
    uint64_t miner;

    /** \brief
     *  Sector number.
     */
    uint64_t sector;

    /** \brief
     *  The C1 output as JSON, plain or in the envelope {"SectorNum", "Phase1Out", "SectorSize"}.
     */
    cuzk_bytes_t c1;
} cuzk_porep_t;

/** \brief
 *  A SnapDeals update.
 */
typedef struct cuzk_update {
    /** \brief
     *  sizeof(cuzk_update_t).
     */
    uint64_t struct_size;

    /** \brief
     *  Registered update proof, numbered as in go-state-types.
     */
    int64_t proof_type;

    /** \brief
     *  Replica commitment before the update, 32 bytes.
     */
    cuzk_bytes_t comm_r_old;

    /** \brief
     *  Replica commitment after it, 32 bytes.
     */
    cuzk_bytes_t comm_r_new;

    /** \brief
     *  Data commitment after it, 32 bytes.
     */
    cuzk_bytes_t comm_d_new;

    /** \brief
     *  Partition proofs in bincode, in order.
     */
    cuzk_bytes_t const * vanilla_proofs;

    /** \brief
     *  Elements of `vanilla_proofs`.
     */
    uint64_t vanilla_proof_count;
} cuzk_update_t;

/** \brief
 *  A WindowPoSt partition or a WinningPoSt.
 */
typedef struct cuzk_post {
    /** \brief
     *  sizeof(cuzk_post_t).
     */
    uint64_t struct_size;

    /** \brief
     *  Registered PoSt proof, numbered as in go-state-types.
     */
    int64_t proof_type;

    /** \brief
     *  Miner's actor id.
     */
    uint64_t miner;

    /** \brief
     *  32 bytes; the two top bits of the last are ignored.
     */
    cuzk_bytes_t randomness;

    /** \brief
     *  Which partition of the deadline, for WindowPoSt V1 alone; less than 2^32.
     */
    uint64_t partition;

    /** \brief
     *  Sector proofs in bincode.
     */
    cuzk_bytes_t const * vanilla_proofs;

    /** \brief
     *  Elements of `vanilla_proofs`.
     */
    uint64_t vanilla_proof_count;
} cuzk_post_t;

/** \brief
 *  One proof to be made. Exactly one of the four pointers isn't NULL.
 */
typedef struct cuzk_request {
    /** \brief
     *  sizeof(cuzk_request_t), the same in all requests of a call.
     */
    uint64_t struct_size;

    /** \brief
     *  The caller's name for it, unique among the engine's unfinished requests, preloads, evictions and trims.
     */
    uint64_t tag;

    /** \brief
     *  Milliseconds from now until it is no longer of use; 0: never.
     */
    uint64_t deadline_ms;

    /** \brief
     *  For logs only, UTF-8.
     */
    cuzk_bytes_t label;

    /** \brief
     *  PoRep C2.
     */
    cuzk_porep_t const * porep;

    /** \brief
     *  SnapDeals.
     */
    cuzk_update_t const * update;

    /** \brief
     *  WindowPoSt.
     */
    cuzk_post_t const * window_post;

    /** \brief
     *  WinningPoSt.
     */
    cuzk_post_t const * winning_post;

    /** \brief
     *  0.
     */
    uint64_t reserved_0;

    /** \brief
     *  0.
     */
    uint64_t reserved_1;
} cuzk_request_t;

/** \brief
 *  Queues `count` requests; each that is accepted ends in one completion event with its tag.
 *
 *  Shapes: `requests[0..count)`, `results[0..count)`; `results[i]` says whether request i was accepted. `results` is written
 *  if the call returns OK, whatever it says of single requests.
 *  Ownership: copies what it needs before it returns. Each message in `results` is to be freed.
 *  Threads: never blocks but for that copy.
 *  Errors, in `results`: INVALID (structure, a limit, a tag in use), UNSUPPORTED, BUSY (retry later), OUT_OF_MEMORY, CLOSED.
 *  What is wrong with the content arrives as a completion. Of the call: INVALID, CLOSED.
 */
uint32_t
cuzk_engine_submit (
    uint64_t engine,
    cuzk_request_t const * requests,
    uint64_t count,
    cuzk_error_t * results,
    cuzk_error_t * error);

/** \brief
 *  Unloads every circuit that no request uses, WinningPoSts' excepted, and frees idle buffers. Ends in a completion.
 *  Doesn't block. Errors: INVALID, CLOSED.
 */
uint32_t
cuzk_engine_trim (
    uint64_t engine,
    uint64_t tag,
    cuzk_error_t * error);

/** \brief
 *  Frees a buffer and empties the struct, so that freeing it again does nothing. NULL and empty buffers are fine.
 *  Doesn't block. Errors: INVALID if a copy of it was freed before.
 */
uint32_t
cuzk_free (
    cuzk_buffer_t * buffer);

/** \brief
 *  What a PoRep's verifier knows.
 */
typedef struct cuzk_porep_claim {
    /** \brief
     *  sizeof(cuzk_porep_claim_t).
     */
    uint64_t struct_size;

    /** \brief
     *  Registered seal proof, numbered as in go-state-types.
     */
    int64_t proof_type;

    /** \brief
     *  Miner's actor id.
     */
    uint64_t miner;

    /** \brief
     *  Sector number.
     */
    uint64_t sector;

    /** \brief
     *  Replica commitment, 32 bytes.
     */
    cuzk_bytes_t comm_r;

    /** \brief
     *  Data commitment, 32 bytes.
     */
    cuzk_bytes_t comm_d;

    /** \brief
     *  32 bytes.
     */
    cuzk_bytes_t ticket;

    /** \brief
     *  32 bytes.
     */
    cuzk_bytes_t seed;
} cuzk_porep_claim_t;

/** \brief
 *  What a SnapDeals update's verifier knows.
 */
typedef struct cuzk_update_claim {
    /** \brief
     *  sizeof(cuzk_update_claim_t).
     */
    uint64_t struct_size;

    /** \brief
     *  Registered update proof, numbered as in go-state-types.
     */
    int64_t proof_type;

    /** \brief
     *  Replica commitment before the update, 32 bytes.
     */
    cuzk_bytes_t comm_r_old;

    /** \brief
     *  Replica commitment after it, 32 bytes.
     */
    cuzk_bytes_t comm_r_new;

    /** \brief
     *  Data commitment after it, 32 bytes.
     */
    cuzk_bytes_t comm_d_new;
} cuzk_update_claim_t;

/** \brief
 *  A sector as a PoSt's verifier knows it.
 */
typedef struct cuzk_sector {
    /** \brief
     *  Sector number.
     */
    uint64_t sector;

    /** \brief
     *  Replica commitment, 32 bytes.
     */
    cuzk_bytes_t comm_r;
} cuzk_sector_t;

/** \brief
 *  What a PoSt's verifier knows.
 */
typedef struct cuzk_post_claim {
    /** \brief
     *  sizeof(cuzk_post_claim_t).
     */
    uint64_t struct_size;

    /** \brief
     *  Registered PoSt proof, numbered as in go-state-types.
     */
    int64_t proof_type;

    /** \brief
     *  32 bytes; the two top bits of the last are ignored.
     */
    cuzk_bytes_t randomness;

    /** \brief
     *  Which partition of the deadline, for WindowPoSt V1 alone; less than 2^32.
     */
    uint64_t partition;

    /** \brief
     *  The sectors, in the order of their vanilla proofs.
     */
    cuzk_sector_t const * sectors;

    /** \brief
     *  Elements of `sectors`.
     */
    uint64_t sector_count;
} cuzk_post_claim_t;

/** \brief
 *  What a proof is verified against. Exactly one of the four pointers isn't NULL.
 */
typedef struct cuzk_claim {
    /** \brief
     *  sizeof(cuzk_claim_t).
     */
    uint64_t struct_size;

    /** \brief
     *  PoRep C2.
     */
    cuzk_porep_claim_t const * porep;

    /** \brief
     *  SnapDeals.
     */
    cuzk_update_claim_t const * update;

    /** \brief
     *  WindowPoSt.
     */
    cuzk_post_claim_t const * window_post;

    /** \brief
     *  WinningPoSt.
     */
    cuzk_post_claim_t const * winning_post;
} cuzk_claim_t;

/** \brief
 *  Where verifying keys come from.
 */
typedef struct cuzk_vk_source {
    /** \brief
     *  sizeof(cuzk_vk_source_t).
     */
    uint64_t struct_size;

    /** \brief
     *  Directories of `.params` files, UTF-8 paths. Default: as in cuzk_config_t.
     */
    cuzk_bytes_t const * param_dirs;

    /** \brief
     *  Elements of `param_dirs`.
     */
    uint64_t param_dir_count;

    /** \brief
     *  1 accepts a verifying key that isn't the network's. Default: 0.
     */
    uint64_t allow_unknown_params;
} cuzk_vk_source_t;

/** \brief
 *  Checks a proof of all partitions by pairing, against public inputs that follow from the claim alone. OK: it is valid.
 *  Needs no engine.
 *
 *  Shapes: `proof` has 192 bytes a partition, compressed, big-endian, in order.
 *  Threads: blocks for 2 ms a partition and 5 µs an input (WindowPoSt has 25,839); the first use of a verifying key reads
 *  and checks it, a second of one core for WindowPoSt's.
 *  Errors: INVALID with field `proof` if it isn't a proof of the claim; INVALID, UNSUPPORTED; PARAMS_MISSING,
 *  PARAMS_CORRUPT, PARAMS_UNKNOWN.
 */
uint32_t
cuzk_verify (
    cuzk_claim_t const * claim,
    cuzk_bytes_t const * proof,
    cuzk_vk_source_t const * source,
    cuzk_error_t * error);


#ifdef __cplusplus
} /* extern \"C\" */
#endif

#endif /* CUZK_H */
