import Foundation
import Quire
import QuireListModel

/// Shows a list of any length in a terminal.
///
/// `TerminalReader [--script] [--offset] [--store FILE] [URL]`: URL is by default a listing of
/// `quire demo`.
///
/// Arrow and page keys select a record. Pages at both ends load before their rows are reached, and
/// ten are kept in memory. Three more presses of the up key at the first row reload the list. `d`
/// deletes a record here and `u` restores it, `/` filters while a text is typed and Escape shows
/// all records again, `g` jumps to a number, Enter retries after an error, `q` quits. With
/// `--store` the pages are kept in a file, and are shown even if the server cannot be reached.
///
/// The listing is paged by Link headers, or with `--offset` by offset, limit and a total, so that
/// the number of rows is known from the start, and each row can be reached in one request. With
/// `--script` the keys are words on standard input: `wait` waits until nothing is being loaded,
/// `size:ROWSxCOLUMNS` changes the screen, `show` prints it.
@main
struct TerminalReader {
  static func main() async throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    func flag(_ name: String) -> Bool {
      guard let index = arguments.firstIndex(of: name) else { return false }
      arguments.remove(at: index)
      return true
    }
    let (isScript, isOffset) = (flag("--script"), flag("--offset"))
    var store: FileListStore<Record>?
    if let index = arguments.firstIndex(of: "--store"), index + 1 < arguments.count {
      store = FileListStore(arguments[index + 1])
      arguments.removeSubrange(index...index + 1)
    }
    let url =
      arguments.first ?? "http://127.0.0.1:8080/" + (isOffset ? "offset-limit" : "link-header")
    var pagination = Pagination.linkHeader
    pagination.previous = Pagination.PreviousRule(.linkHeader(rel: "prev"))
    if isOffset {
      pagination = Pagination(
        next: .offset, send: .query("offset"), end: [.total("/total")], items: "/items",
        size: Pagination.PageSize(.query("limit")), total: "/total")
    }
    let records = PageClient().cursor(
      of: Record.self, at: url, pagination: pagination, pageSize: isOffset ? 100 : nil)

    let (inputs, feed) = AsyncStream<Input>.makeStream()
    let reader = Reader(records, store: store) { feed.yield(.change) }
    if isScript {
      await play(reader, inputs)
    } else {
      try await Terminal.whileOpen(feed) { await show(reader, inputs) }
    }
    await reader.model.settleStore()
  }

  /// The events after which the list is drawn again.
  enum Input {
    case key(Key)
    case change
  }

  /// Handles the terminal's keys until one quits.
  @MainActor private static func show(_ reader: Reader, _ inputs: AsyncStream<Input>) async {
    draw(reader)
    for await input in inputs {
      if case .key(let key) = input {
        if key == .quit || key == .character("q") && reader.mode == .list { return }
        reader.press(key)
      }
      draw(reader)
    }
  }

  @MainActor private static func draw(_ reader: Reader) {
    let size = Terminal.size
    let height = max(1, size.rows - Reader.frameHeight)
    if reader.height != height { reader.height = height }
    Terminal.draw(reader.lines(width: size.columns))
  }

  /// Runs the script on standard input.
  @MainActor private static func play(_ reader: Reader, _ inputs: AsyncStream<Input>) async {
    var changes = inputs.makeAsyncIterator()
    var width = 60
    while let line = readLine() {
      for word in line.split(separator: " ").map(String.init) {
        // Let pending changes be applied before the next key.
        await Task.yield()
        switch word {
        case "wait":
          // `follow()` reports the visible rows to the model, which may load further pages.
          var followed: Int?
          while reader.isLoading || followed != reader.model.snapshot.list.loaded {
            if reader.isLoading, await changes.next() == nil { break }
            followed = reader.model.snapshot.list.loaded
            reader.follow()
          }
        case "show": print(reader.lines(width: width).joined(separator: "\n"))
        case _ where word.hasPrefix("size:"):
          let size = word.dropFirst(5).split(separator: "x").compactMap { Int($0) }
          reader.height = max(1, size[0] - Reader.frameHeight)
          width = size[1]
        default: for key in Key.keys(inWord: word) { reader.press(key) }
        }
      }
    }
  }
}
