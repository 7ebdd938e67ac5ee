/* libFuzzer's entry; built once for each target, whose name is FUZZ_TARGET. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_one(FUZZ_TARGET, bytes, size);
    return 0;
}
