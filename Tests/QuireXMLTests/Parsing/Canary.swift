import Glibc
import Testing

/// Runs `work` with the path of a file, and expects that nobody opens it.
func expectUnopened(_ work: (String) throws -> Void) throws {
  let file = "/tmp/quire-canary-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).dtd"
  close(open(file, O_CREAT | O_WRONLY, 0o600))
  defer { unlink(file) }
  let watch = inotify_init1(Int32(IN_NONBLOCK))
  defer { close(watch) }
  #expect(inotify_add_watch(watch, file, UInt32(IN_OPEN) | UInt32(IN_ACCESS)) >= 0)
  try work(file)
  var event = [UInt8](repeating: 0, count: 4_096)
  #expect(read(watch, &event, event.count) == -1)
  #expect(errno == EAGAIN)
  // The watch works: this is what an open would have shown.
  close(open(file, O_RDONLY))
  #expect(read(watch, &event, event.count) > 0)
}
