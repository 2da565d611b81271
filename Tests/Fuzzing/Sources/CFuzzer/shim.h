#pragma once
#include <stddef.h>
#include <stdint.h>

// libFuzzer's own loop; no header that is installed declares it.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));
