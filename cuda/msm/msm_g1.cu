#include "msm/group_impl.cuh"

namespace czk {

const msm_group_t msm_g1 = group_entries<fp_t>();

} // namespace czk
