#include "msm/group_impl.cuh"

namespace czk {

const msm_group_t msm_g2 = group_entries<fp2_t>();

} // namespace czk
