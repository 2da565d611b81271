import CXML2
import QuireCore

/// Document types, entities and errors.
extension XMLParserState {
  mutating func startDoctype(_ name: UnsafePointer<xmlChar>?) {
    if xmlStrcasecmp(name, "html") == 0 { fail(.otherFormat(.html)) }
  }

  /// What `&name;` stands for, when XML itself does not define it.
  mutating func entity(named name: UnsafePointer<xmlChar>) -> xmlEntityPtr? {
    if leniency.contains(.namedCharacters) {
      let isValue = context.pointee.instate == XML_PARSER_ATTRIBUTE_VALUE
      if let entity = XMLNamedCharacters.entity(named: name, isValue: isValue) {
        repairs.insert(.namedCharacters)
        return entity
      }
    }
    let text = ServerText(
      bytes: UnsafeBufferPointer(start: name, count: Int(xmlStrlen(name))), limit: 64)
    stop(.malformed("the entity &\(text); is not defined"))
    return nil
  }

  /// Takes an error from libxml2; the first one counts.
  mutating func report(_ error: xmlError) {
    // A later version of XML is only a warning to libxml2, but its rules differ.
    guard
      error.level.rawValue >= XML_ERR_ERROR.rawValue
        || error.code == XML_WAR_UNKNOWN_VERSION.rawValue
    else { return }
    // Namespaces are compared as text; whether one is a URI matters to nobody.
    guard error.code != XML_WAR_NS_URI.rawValue, fault == nil else { return }
    switch UInt32(error.code) {
    case XML_ERR_USER_STOP.rawValue: return
    case XML_ERR_DOCUMENT_END.rawValue where hasRoot && depth == 0: return reportTrailing()
    case XML_ERR_DOCUMENT_END.rawValue: fail(.truncated, at: tape.source.count)
    case XML_ERR_NO_MEMORY.rawValue:
      fail(
        .limit(
          what: "bytes of distinct names", limit: limits.nameBytes, property: "XMLLimits.nameBytes")
      )
    default: fail(.malformed(Self.words(of: error)))
    }
  }

  private mutating func reportTrailing() {
    if leniency.contains(.trailingContent) {
      repairs.insert(.trailingContent)
    } else {
      fail(.malformed("there is content after the end of the root element"))
    }
  }

  /// libxml2's message, which quotes names of the page: one line, of bounded length.
  private static func words(of error: xmlError) -> String {
    guard let message = error.message else { return "error \(error.code)" }
    let text = String(cString: message).unicodeScalars.map {
      "\n\r\t".contains(Character($0)) ? " " : $0
    }
    return ServerText(String(String.UnicodeScalarView(text)).trimmedWords, limit: 200).description
  }
}

extension String {
  /// The text with single spaces between words and none at the ends.
  fileprivate var trimmedWords: String { split(separator: " ").joined(separator: " ") }
}
