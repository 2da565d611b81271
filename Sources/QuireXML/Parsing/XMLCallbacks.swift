import CXML2

/// The functions that libxml2 calls, with the parser's state as their first argument.
enum XMLCallbacks {
  /// A handler with everything that is listened to; the rest stays silent.
  static func handler() -> xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = UInt32(XML_SAX2_MAGIC)
    quire_xml_silence(&handler)
    setContent(&handler)
    setDeclarations(&handler)
    handler.serror = { user, error in
      guard let state = parserState(user), let error else { return }
      state.pointee.report(error.pointee)
    }
    return handler
  }

  private static func setContent(_ handler: inout xmlSAXHandler) {
    handler.startElementNs = {
      user, local, prefix, uri, namespaceCount, namespaces, count, defaulted, attributes in
      guard let state = parserState(user), let local else { return }
      state.pointee.startElement(local, prefix, uri)
      if namespaceCount > 0, let namespaces {
        state.pointee.declare(Int(namespaceCount), namespaces)
      }
      // Attributes by default come last. No page gets that far, but none may count as written.
      if count > defaulted, let attributes {
        state.pointee.addAttributes(Int(count - defaulted), attributes)
      }
      state.pointee.finishTag()
    }
    handler.endElementNs = { user, _, _, _ in parserState(user)?.pointee.endElement() }
    let text: charactersSAXFunc = { user, bytes, count in
      guard let state = parserState(user), let bytes else { return }
      state.pointee.text(bytes, Int(count))
    }
    handler.characters = text
    handler.ignorableWhitespace = text
    handler.cdataBlock = text
  }

  private static func setDeclarations(_ handler: inout xmlSAXHandler) {
    handler.internalSubset = { user, name, _, _ in
      parserState(user)?.pointee.startDoctype(name)
    }
    handler.entityDecl = { user, _, _, _, _, _ in
      parserState(user)?.pointee.stop(.refused("declares an entity"))
    }
    handler.unparsedEntityDecl = { user, _, _, _, _ in
      parserState(user)?.pointee.stop(.refused("declares an entity"))
    }
    handler.getParameterEntity = { user, _ in
      parserState(user)?.pointee.stop(.refused("uses a parameter entity"))
      return nil
    }
    handler.attributeDecl = { user, _, _, _, _, value, enumeration in
      xmlFreeEnumeration(enumeration)
      if value != nil {
        parserState(user)?.pointee.stop(.refused("declares a default value for an attribute"))
      }
    }
    handler.resolveEntity = { _, _, _ in nil }
    handler.getEntity = { user, name in
      guard let state = parserState(user), let name else { return nil }
      return state.pointee.entity(named: name)
    }
  }
}

/// What libxml2 was given to hand back.
@inline(__always)
private func parserState(
  _ user: UnsafeMutableRawPointer?
) -> UnsafeMutablePointer<XMLParserState>? {
  user?.assumingMemoryBound(to: XMLParserState.self)
}
