import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination

@testable import QuireXML

/// Documents that exercise every construct of XML, for tests of where slices end.
enum Pages {
  static let plain = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- a > comment with <tags> - - like things -->
    <?pi with > and ?still?>
    <list a='1' b="x>y 'quoted' &amp; &#x41;&#66;">
      <item id="ä">Größe &lt;b&gt; ]] ] > 中文 😀</item>
      <empty/><empty   attribute = "v"  />
      <![CDATA[ <raw> ]] ]> & " ' ]]>tail<![CDATA[]]>
      text <b>bold</b> more&#10;text
      <!-- it's "open > -->
      <?php echo "it's > <b>"; ?>
    </list  >
    <!-- after --><?done?>

    """

  static let lineEnds =
    "<a x=\"1\r\n2\">\r\none\r\rtwo\r\n<b>\r</b>\r\n<![CDATA[\r\n]]></a>\r\n"

  static let namespaces = """
    <a:feed xmlns:a="http://www.w3.org/2005/Atom" xmlns="urn:default" xml:base="https://f.test/x/">\
    <entry a:id="1" id="2"/><a:entry xmlns:a="urn:other" a:id="3"><a:x xmlns=""/></a:entry>\
    </a:feed>
    """

  static let doctype = """
    <!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" 'http://x.test/it"s > rss.dtd' [
      <!-- ]> ' -->
      <!ELEMENT a (b|c)*> <?x ]> ?>
    ]  >
    <rss><channel/></rss>
    """

  static let trickyComment = "<!--> a --><a><!--> b --><!-- - --></a><!---> c -->"

  static let all = [plain, lineEnds, namespaces, doctype, trickyComment]
}

/// Everything a page's tape says, one line for each record.
func events(of slices: [[UInt8]], leniency: XMLLeniency = []) throws -> [String] {
  let parser = try XMLPushParser(leniency: leniency)
  do throws(XMLFault) {
    for slice in slices { try parser.receive(slice) }
    try parser.finish()
  } catch {
    throw error.pageError
  }
  return parser.takeIndex().events
}

extension XMLIndex {
  var events: [String] {
    records.indices.map { node in
      let record = records[node]
      let name = names[record.name]
      switch record.kind {
      case .element:
        let namespace = name.namespace.map { "{\($0)}" } ?? ""
        return "<\(namespace)\(name.qualified) \(record.next) \(string(of: node).utf8.count)"
      case .attribute, .composedAttribute:
        let namespace = name.namespace.map { "{\($0)}" } ?? ""
        return "@\(namespace)\(name.qualified)=\(string(of: node))"
      case .namespace: return "xmlns:\(name.local)=\(string(of: node))"
      case .text, .composedText: return "text \(string(of: node))"
      case .space, .composedSpace: return "space \(string(of: node))"
      }
    }
  }
}
