import Foundation
import Synchronization

/// A terminal without a screen: what a program draws on it can be read, and keys can be typed.
final class PseudoTerminal: Sendable {
  /// The program's end.
  let follower: FileHandle
  private let leader: Int32
  private let drawn = Mutex("")

  init(rows: UInt16, columns: UInt16) throws {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    var (leader, follower): (Int32, Int32) = (-1, -1)
    guard openpty(&leader, &follower, nil, nil, &size) == 0 else { throw POSIXError(.EIO) }
    // Other programs that the tests start must not hold it open.
    for end in [leader, follower] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.leader = leader
    self.follower = FileHandle(fileDescriptor: follower, closeOnDealloc: true)
  }

  deinit { close(leader) }

  /// Whether the terminal gathers lines, echoes keys, and so on.
  var modes: [tcflag_t] {
    var modes = termios()
    tcgetattr(follower.fileDescriptor, &modes)
    return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
  }

  func type(_ keys: String) {
    let bytes = Array(keys.utf8)
    precondition(write(leader, bytes, bytes.count) == bytes.count)
  }

  /// The lines of the screen as soon as `condition` holds for them; nil when nothing is drawn for a
  /// minute.
  func screen(where condition: @escaping @Sendable ([String]) -> Bool) async -> [String]? {
    await reading { [self] in
      let screen = screen()
      return screen.isEmpty || !condition(screen) ? nil : screen
    }
  }

  /// Whether the last that is drawn, within a minute, is `end`.
  func output(endingWith end: String) async -> Bool {
    await reading { [self] in drawn.withLock { $0.hasSuffix(end) } ? true : nil } ?? false
  }

  /// What `result` makes of what was drawn, as soon as that is anything.
  private func reading<Result: Sendable>(
    until result: @escaping @Sendable () -> Result?
  ) async -> Result? {
    await withCheckedContinuation { continuation in
      // Waiting for the kernel's word blocks a thread, and the tests' own threads are few.
      DispatchQueue.global().async { [self] in
        while true {
          let result = result()
          if result != nil || !readOn() { return continuation.resume(returning: result) }
        }
      }
    }
  }

  /// What was drawn last: the program draws from the top, and ends with erasing what is below.
  private func screen() -> [String] {
    let frames = drawn.withLock { $0 }.components(separatedBy: "\u{1B}[H").dropFirst()
    guard let frame = frames.last(where: { $0.contains("\u{1B}[J") }) else { return [] }
    return frame.components(separatedBy: "\u{1B}[J")[0].replacing("\u{1B}[K", with: "")
      .components(separatedBy: "\r\n")
  }

  /// Waits for output, and takes it. Returns false when none comes for a minute.
  private func readOn() -> Bool {
    var entry = pollfd(fd: leader, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 60_000) > 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(leader, &bytes, bytes.count)
    guard count > 0 else { return false }
    drawn.withLock { $0 += String(decoding: bytes[..<count], as: UTF8.self) }
    return true
  }
}
