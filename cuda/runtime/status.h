// The status that every exported function returns by value, and the question that long operations ask their caller.
// Plain C, so that exports can be declared in headers that need no CUDA.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// code: CZK_OK, a cudaError_t (positive), or one of the negative codes below. message: zero-terminated; after a failure
// "expression: reason (file:line)".
typedef struct {
    int32_t code;
    char message[252];
} czk_status_t;

enum {
    CZK_OK = 0,
    CZK_STOPPED = -1,  // czk_poll_t's ask said so; what was launched before may still run on the stream
    CZK_INVALID = -2,  // an argument breaks the function's contract; nothing was launched
    CZK_WORKSPACE = -3 // the workspace passed in is smaller than *_workspace_bytes() said
};

// How an operation of many launches asks its caller whether to go on. ask(context) != 0 stops it with CZK_STOPPED.
// events: two CUDA events of the caller's (cudaEvent_t) that the operation may record; the operation creates nothing.
typedef struct {
    int (*ask)(void *context);
    void *context;
    void *events[2];
} czk_poll_t;

#ifdef __cplusplus
}
static_assert(sizeof(czk_status_t) == 256, "the Rust side declares the same 256 bytes");
#endif
