import Foundation
import QuireCore

/// Makes sure that the process may open what a command needs before it starts: the runtime's event
/// loop traps where it can open nothing.
enum DescriptorCheck {
  /// What a command has open at once at most: a few connections, the event loop, the resolver, the
  /// certificate authorities, and the files it reads and writes.
  static let needed = 24

  /// Says what is wrong; nil where there is room enough.
  static func complaint() -> String? {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    while opened.count < needed {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor < 0 else {
        opened.append(descriptor)
        continue
      }
      guard errno == EMFILE || errno == ENFILE else { return nil }
      return "This process can open \(opened.count.counted("more file")) only, and needs \(needed)."
        + " Raise the limit, such as by \"ulimit -n 256\", and run it again."
    }
    return nil
  }
}
