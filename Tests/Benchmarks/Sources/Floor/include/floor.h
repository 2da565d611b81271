#ifndef FLOOR_H
#define FLOOR_H

#include <stddef.h>

/// Fetches `pages` pages from `url` followed by 1, 2, 3 … over one reused easy handle, one after
/// the other, keeping the bytes of one page at a time.
///
/// Returns the body bytes received, or -1 when a page could not be fetched with status 200.
long long floor_walk(const char *url, int pages);

#endif
