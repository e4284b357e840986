// Keeps at most about 50 ms of launches queued between two questions to the caller.
#pragma once

#include "runtime/check.cuh"

namespace czk {

// One per operation. After each launch the operation says how long it expects that launch to take; when 25 ms have
// gathered, the pacer records one event, waits for the other, recorded 25 ms of work earlier, and asks. The device never
// runs dry, since the latest 25 ms stay queued while the host waits.
class pacer_t {
  public:
    pacer_t(const czk_poll_t *poll, cudaStream_t stream) : poll_(poll), stream_(stream) {}

    czk_status_t launched(double expected_ms) {
        if (poll_ == nullptr || poll_->ask == nullptr) return ok();
        queued_ms_ += expected_ms;
        if (queued_ms_ < slice_ms) return ok();
        queued_ms_ = 0;
        CZK_CUDA(cudaEventRecord(event(slices_), stream_));
        if (slices_ > 0) CZK_CUDA(cudaEventSynchronize(event(slices_ - 1)));
        slices_++;
        if (poll_->ask(poll_->context) != 0) return fail(CZK_STOPPED, "ask", "the caller stops", __FILE__, __LINE__);
        return ok();
    }

  private:
    static constexpr double slice_ms = 25;

    cudaEvent_t event(unsigned slice) const { return static_cast<cudaEvent_t>(poll_->events[slice % 2]); }

    const czk_poll_t *poll_;
    cudaStream_t stream_;
    double queued_ms_ = 0;
    unsigned slices_ = 0;
};

} // namespace czk
