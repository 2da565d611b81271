#include "floor.h"

#include <libxml/parser.h>
#include <string.h>

static void start(void *events, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                  int namespaces, const xmlChar **pairs, int count, int defaulted,
                  const xmlChar **attributes) {
  ++*(long long *)events;
}

static void end(void *events, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
  ++*(long long *)events;
}

static void text(void *events, const xmlChar *bytes, int count) { ++*(long long *)events; }

long long floor_parse_xml(const char *bytes, size_t count) {
  xmlSAXHandler handler;
  memset(&handler, 0, sizeof handler);
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = start;
  handler.endElementNs = end;
  handler.characters = handler.ignorableWhitespace = handler.cdataBlock = text;
  long long events = 0;
  xmlParserCtxtPtr context = xmlCreatePushParserCtxt(&handler, &events, NULL, 0, NULL);
  if (!context) return -1;
  xmlCtxtUseOptions(context, XML_PARSE_NONET | XML_PARSE_IGNORE_ENC);
  for (size_t from = 0; from < count; from += 4096) {
    size_t size = count - from < 4096 ? count - from : 4096;
    xmlParseChunk(context, bytes + from, (int)size, 0);
  }
  xmlParseChunk(context, NULL, 0, 1);
  if (!context->wellFormed) events = -1;
  xmlFreeParserCtxt(context);
  return events;
}
