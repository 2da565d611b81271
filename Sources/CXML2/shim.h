#pragma once
// Debian's libxml2 declares ICU's converters in its headers. Nothing here uses them, and ICU's
// types would exist twice in programs that import Foundation, which has an ICU of its own.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

static inline void quire_xml_swallow(void *context, const char *format, ...) {
  (void)context;
  (void)format;
}

// The old message handlers are variadic, which Swift cannot implement. Left unset, libxml2 would
// print the document to standard error.
static inline void quire_xml_silence(xmlSAXHandler *handler) {
  handler->warning = quire_xml_swallow;
  handler->error = quire_xml_swallow;
  handler->fatalError = quire_xml_swallow;
}

// Memory that grows. On Linux, blocks of 128 KiB or more are pages mapped for them alone, which
// mremap moves without copying; it is variadic, which Swift cannot call. Other memory is from
// realloc.
#if defined(__linux__)
static inline int quire_memory_is_large(size_t size) { return size >= (128u << 10); }

static inline void quire_memory_release(void *memory, size_t size) {
  if (quire_memory_is_large(size)) {
    munmap(memory, size);
  } else {
    free(memory);
  }
}

static inline void *quire_memory_grow(void *old, size_t old_size, size_t size) {
  if (!quire_memory_is_large(size)) return realloc(old, size);
  if (quire_memory_is_large(old_size)) {
    long moved = syscall(SYS_mremap, old, old_size, size, 1 /* MREMAP_MAYMOVE */);
    return moved == -1 ? NULL : (void *)moved;
  }
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (old) {
    memcpy(memory, old, old_size);
    free(old);
  }
  return memory;
}
#else
static inline void quire_memory_release(void *memory, size_t size) {
  (void)size;
  free(memory);
}

static inline void *quire_memory_grow(void *old, size_t old_size, size_t size) {
  (void)old_size;
  return realloc(old, size);
}
#endif
