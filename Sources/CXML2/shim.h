#pragma once
// Debian's libxml2 shows ICU's converters in its headers, where nothing here uses them, and ICU's types
// then exist twice in programs that import Foundation, which has an ICU of its own.
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED
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
