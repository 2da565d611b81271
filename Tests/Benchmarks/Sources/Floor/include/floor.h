#ifndef FLOOR_H
#define FLOOR_H

#include <stddef.h>

/// Fetches `pages` pages from `url` followed by 1, 2, 3 … over one reused easy handle, one after
/// the other, keeping the bytes of one page at a time.
///
/// Returns the body bytes received, or -1 when a page could not be fetched with status 200.
long long floor_walk(const char *url, int pages);

/// Parses a page of XML with libxml2's SAX2 push parser and callbacks that only count, fed 4 KiB at a
/// time. Returns the number of calls, or -1 for a page that is not well-formed.
long long floor_parse_xml(const char *bytes, size_t count);

/// How often the calling thread has asked the heap for memory so far.
long long floor_allocations(void);

#endif
