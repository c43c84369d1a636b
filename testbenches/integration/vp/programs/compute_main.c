#include "compute.h"

uint32_t results[COMPUTE_RESULTS];

int main(void) {
    compute(results);
    return 0;
}
