import Foundation
import Quire

struct Record: Decodable, Sendable {
  let id: Int
  let name: String
}

/// A list without an end, in a terminal: `TerminalReader [--script] [URL]`.
///
/// Arrow and page keys scroll, left and right turn pages as high as the window; pages of the listing are
/// loaded before their rows are reached. Pulled down at its top
/// by three more rows the list is loaded anew, and a row at its end tries again what failed. With
/// `--script` the keys are words on stdin, and `show` prints what the screen would show.
@main
struct TerminalReader {
  static func main() async throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    let isScript = arguments.first == "--script"
    if isScript { arguments.removeFirst() }
    let url = arguments.first ?? "http://127.0.0.1:8080/link-header"

    let records = PageClient().cursor(of: Record.self, at: url, pagination: .linkHeader)
    let (inputs, feed) = AsyncStream<Input>.makeStream()
    let list = RecordList(records) { feed.yield(.change) }
    if isScript {
      await play(list, inputs)
    } else {
      try await Terminal.whileOpen(feed) { await show(list, inputs) }
    }
  }

  /// What makes the list be drawn again.
  enum Input {
    case key(Key)
    case change
  }

  /// Serves the terminal until a key quits.
  private static func show(_ list: RecordList, _ inputs: AsyncStream<Input>) async {
    var list = list
    draw(&list)
    for await input in inputs {
      if case .key(let key) = input {
        if key == .quit { return }
        list.press(key)
      }
      draw(&list)
    }
  }

  private static func draw(_ list: inout RecordList) {
    let size = Terminal.size
    list.height = max(1, size.rows - RecordList.frameHeight)
    Terminal.draw(list.lines(width: size.columns))
  }

  /// Serves a script: a key's name presses it, `wait` waits until nothing is loaded, `show` prints.
  private static func play(_ list: RecordList, _ inputs: AsyncStream<Input>) async {
    var list = list
    var changes = inputs.makeAsyncIterator()
    while let line = readLine() {
      for word in line.split(separator: " ") {
        switch word {
        case "wait": while list.isLoading, await changes.next() != nil {}
        case "show": print(list.lines(width: 60).joined(separator: "\n"))
        default:
          guard let key = Key(rawValue: String(word)) else { fatalError("no such key: \(word)") }
          list.press(key)
        }
      }
    }
  }
}
