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
