import QuireCore
import QuireHTTP

/// One page of XML being decoded, whatever its items become.
struct XMLPageDecoding<Item: Sendable>: PageDecoding {
  /// Makes, for the nodes of a page's items, the function that makes the nth item.
  typealias Strategy = (XMLIndex, [Int]) throws -> (Int) throws -> Item

  private let context: DecodingContext
  private let strategy: Strategy
  private let parser: XMLPushParser
  private var index: XMLIndex?

  init(
    _ context: DecodingContext, limits: XMLLimits, leniency: XMLLeniency,
    strategy: @escaping Strategy
  ) throws {
    self.context = context
    self.strategy = strategy
    parser = try XMLPushParser(
      limits: limits, decoding: context.limits, leniency: leniency,
      charset: XMLMediaType.charset(context.contentType))
  }

  mutating func receive(_ slice: [UInt8]) throws {
    do throws(XMLFault) { try parser.receive(slice) } catch { throw error.pageError }
  }

  mutating func finish() throws -> any PageDocument {
    do throws(XMLFault) { try parser.finish() } catch { throw error.pageError }
    let index = parser.takeIndex()
    self.index = index
    return XMLDocument(index: index)
  }

  mutating func items() throws -> DecodedItems<Item> {
    guard let index else {
      preconditionFailure("items() was called before finish(), which makes the document.")
    }
    let nodes = try index.items(of: context.items)
    try check(nodes, in: index)
    let make = try strategy(index, nodes)
    var items: [Item] = []
    items.reserveCapacity(nodes.count)
    var badItems: [BadItem] = []
    for (number, node) in nodes.enumerated() {
      do {
        items.append(try make(number))
      } catch let failure as XMLItemFailure {
        badItems.append(
          try failure.settle(context.badItems, number: number, item: node, in: index))
      }
    }
    return DecodedItems(items, badItems: badItems)
  }

  private func check(_ nodes: [Int], in index: XMLIndex) throws {
    guard nodes.count <= context.limits.items else {
      throw PageError(
        .limitExceeded,
        """
        The page holds \(nodes.count) items, more than \(context.limits.items); ask for smaller \
        pages or raise DecodingLimits.items.
        """)
    }
    for (number, node) in nodes.enumerated() {
      let size = Int(index.record(node).length)
      guard size <= context.limits.itemBytes else {
        throw PageError(
          .limitExceeded,
          """
          Item \(number) of the page, at \(index.place(of: node)), has \(size) bytes, more than \
          \(context.limits.itemBytes); raise DecodingLimits.itemBytes if that is right for this API.
          """)
      }
    }
  }
}
