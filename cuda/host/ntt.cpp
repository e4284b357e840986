// Transforms on the CPU: every block of a pass one after the other, a loop for its threads. For tests/cuda_ntt.rs.
#include <vector>

#include "ntt/plan.cuh"

using namespace czk;

namespace {

struct host_tables_t {
    std::vector<fr_rows_t> hi, lo;
    std::vector<half_t> local;

    ntt_tables_t view() const { return ntt_tables_t{hi.data(), lo.data(), local.data()}; }
};

// Running products instead of a power for each entry: the entries are the same elements as on the device.
const host_tables_t &tables() {
    static const host_tables_t made = [] {
        host_tables_t t;
        fr_t step = fr_pow(fr_root(), 1ull << (32 - NTT_LG_HI)), power = fr_one();
        for (uint32_t n = 0; n < 1u << NTT_LG_HI; n++, power = fr_mul(power, step)) t.hi.push_back(fr_rows(power));
        t.local.resize(NTT_LOCAL_HALVES);
        for (uint32_t n = 0; n < NTT_LOCAL_ENTRIES; n++) ntt_local_entry(t.local.data(), n);
        step = fr_pow(fr_root(), 1ull << (32 - NTT_LG_ORDER));
        for (uint32_t table = 0; table < NTT_LO_TABLES; table++) {
            power = ntt_lo_constant(table);
            for (uint32_t n = 0; n < 1u << NTT_LG_LO; n++, power = fr_mul(power, step)) t.lo.push_back(fr_rows(power));
        }
        return t;
    }();
    return made;
}

void run(const ntt_plan_t &plan) {
    static ntt_shared_t shared;
    static ntt_eight_t eights[NTT_THREADS];
    for (uint32_t k = 0; k < plan.count; k++) {
        for (uint32_t tile = 0; tile < ntt_tiles(plan.passes[k]); tile++) {
            ntt_block(
                plan.passes[k], shared, tile,
                [](auto phase) {
                    for (uint32_t thread = 0; thread < NTT_THREADS; thread++) phase(thread);
                },
                [](uint32_t thread) -> ntt_eight_t & { return eights[thread]; });
        }
    }
}

} // namespace

extern "C" {

void czk_host_ntt(fr_t *data, fr_t *out, uint32_t lg_size, uint32_t inverse, uint32_t coset) {
    run(ntt_plan_natural(tables().view(), lg_size, data, out, inverse, coset));
}

void czk_host_ntt_to_coset(fr_t *data, uint32_t lg_size) {
    run(ntt_plan_through(tables().view(), lg_size, data, NTT_TO_COSET));
}

void czk_host_ntt_derivative(fr_t *data, uint32_t lg_size) {
    run(ntt_plan_through(tables().view(), lg_size, data, NTT_TIMES_INDEX));
}

fr_t *czk_host_quotient(fr_t *a, fr_t *b, fr_t *work, uint32_t lg_size) {
    ntt_plan_t plans[NTT_QUOTIENT_PLANS];
    ntt_plan_quotient(plans, tables().view(), lg_size, a, b, work);
    for (const ntt_plan_t &plan : plans) run(plan);
    return plans[5].passes[0].out;
}

} // extern "C"
