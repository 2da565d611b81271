#pragma once
#include <stddef.h>

// The files of presets as one JSON array, in the order of the guide; `count` is set to its bytes.
const unsigned char *_Nonnull quire_presets(size_t *_Nonnull count);
