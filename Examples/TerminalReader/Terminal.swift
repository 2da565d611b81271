import Foundation

/// The terminal that this program runs in.
enum Terminal {
  /// Runs `body` with the terminal in raw mode, without echo, on a screen of its own. Keys, signals
  /// and changes of size are sent to `feed`.
  ///
  /// The terminal is restored when `body` returns. SIGINT, SIGTERM and SIGHUP are sent as
  /// `Key.quit`, so that `body` returns then, too.
  static func whileOpen(
    _ feed: AsyncStream<TerminalReader.Input>.Continuation, _ body: () async -> Void
  ) async throws {
    var original = termios()
    guard tcgetattr(STDIN_FILENO, &original) == 0 else {
      fatalError("no terminal on stdin; use --script to give keys in words")
    }
    var raw = original
    cfmakeraw(&raw)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
    write("\u{1B}[?1049h\u{1B}[?25l")
    defer {
      write("\u{1B}[?25h\u{1B}[?1049l")
      tcsetattr(STDIN_FILENO, TCSADRAIN, &original)
    }

    FileHandle.standardInput.readabilityHandler = { input in
      let bytes = input.availableData
      // Without bytes, standard input is closed.
      if bytes.isEmpty { feed.yield(.key(.quit)) }
      for key in Key.keys(in: bytes) { feed.yield(.key(key)) }
    }
    var signals: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM, SIGHUP, SIGWINCH] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { feed.yield(number == SIGWINCH ? .change : .key(.quit)) }
      // Wait until the handler is registered, because an earlier signal would be lost.
      await withCheckedContinuation { listening in
        source.setRegistrationHandler { listening.resume() }
        source.resume()
      }
      signals.append(source)
    }
    defer {
      FileHandle.standardInput.readabilityHandler = nil
      for source in signals { source.cancel() }
    }
    await body()
  }

  /// The size of the screen; 24 by 80 if it is unknown.
  static var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else {
      return (24, 80)
    }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  /// Draws over the previous screen, so that nothing flickers.
  static func draw(_ lines: [String]) {
    write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
  }

  private static func write(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  }
}
