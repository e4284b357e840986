// Macros that turn a failed CUDA call, launch or precondition into a czk_status_t with its expression, file and line.
// Every function that uses them returns czk_status_t; nothing throws, exits or prints.
#pragma once

#include <cstdio>
#include <cuda_runtime.h>

#include "runtime/status.h"

namespace czk {

inline czk_status_t ok() { return czk_status_t{CZK_OK, {0}}; }

// The file's name without its folders: messages are short and builds in different places give the same bytes.
inline const char *file_name(const char *path) {
    const char *name = path;
    for (const char *c = path; *c; c++) {
        if (*c == '/') name = c + 1;
    }
    return name;
}

inline czk_status_t fail(int32_t code, const char *expression, const char *reason, const char *file, int line) {
    czk_status_t status{code, {0}};
    snprintf(status.message, sizeof status.message, "%.110s: %.80s (%.40s:%d)", expression, reason, file_name(file), line);
    return status;
}

inline czk_status_t check(cudaError_t error, const char *expression, const char *file, int line) {
    if (error == cudaSuccess) return ok();
    // what isn't sticky would stay the "last error" and be blamed on the next launch
    (void)cudaGetLastError();
    return fail(int32_t(error), expression, cudaGetErrorString(error), file, line);
}

} // namespace czk

// A CUDA runtime call; returns its failure from the enclosing function.
#define CZK_CUDA(expression)                                                                                           \
    do {                                                                                                               \
        czk_status_t czk_status_ = czk::check((expression), #expression, __FILE__, __LINE__);                          \
        if (czk_status_.code != CZK_OK) return czk_status_;                                                            \
    } while (0)

// A kernel launch. cudaGetLastError reports a launch that the runtime refused (grid, shared memory, no code for this
// card) and clears it, so that it isn't blamed on the next call.
#define CZK_LAUNCH(...)                                                                                                \
    do {                                                                                                               \
        __VA_ARGS__;                                                                                                   \
        czk_status_t czk_status_ = czk::check(cudaGetLastError(), #__VA_ARGS__, __FILE__, __LINE__);                   \
        if (czk_status_.code != CZK_OK) return czk_status_;                                                            \
    } while (0)

// A function that returns czk_status_t itself.
#define CZK_TRY(expression)                                                                                            \
    do {                                                                                                               \
        czk_status_t czk_status_ = (expression);                                                                       \
        if (czk_status_.code != CZK_OK) return czk_status_;                                                            \
    } while (0)

// A precondition of the enclosing function, with the negative code that its failure returns.
#define CZK_REQUIRE(condition, code)                                                                                   \
    do {                                                                                                               \
        if (!(condition)) return czk::fail((code), #condition, "does not hold", __FILE__, __LINE__);                   \
    } while (0)
