// Kernels that do what no kernel should (exports/testing.h).
#include "exports/testing.h"
#include "runtime/check.cuh"

namespace {

__global__ void trap_kernel() { asm volatile("trap;"); }

__global__ void spin_kernel(const volatile int32_t *stop) {
    while (*stop == 0) __nanosleep(1000);
}

} // namespace

extern "C" {

czk_status_t czk_test_trap(void *stream) {
    CZK_LAUNCH(trap_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>());
    return czk::ok();
}

czk_status_t czk_test_spin(const int32_t *p_stop, void *stream) {
    CZK_LAUNCH(spin_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(p_stop));
    return czk::ok();
}

} // extern "C"
