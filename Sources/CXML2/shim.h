#pragma once
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

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
