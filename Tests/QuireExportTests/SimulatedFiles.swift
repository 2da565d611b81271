import Foundation
@testable import QuireExport
import QuireTesting
import Synchronization

/// A file system in memory that forgets, like a machine without power, what nobody had it confirm: in part,
/// in any order, and torn at 512 bytes. Each call can fail, and each can be the last one of its process.
final class SimulatedFiles: Sendable {
  /// What goes wrong with a call.
  enum Fault: Sendable {
    /// The process dies before the call.
    case killed
    /// It returns an error number.
    case error(Int32)
    /// It writes half of what it should.
    case short
  }

  private enum Change {
    case write(Int, [UInt8])
    case length(Int)
  }

  private struct Inode {
    var current: [UInt8] = []
    var confirmed: [UInt8] = []
    var changes: [Change] = []

    mutating func apply(_ change: Change) {
      switch change {
      case .write(let offset, let bytes):
        let end = offset + bytes.count
        if current.count < end { current += repeatElement(0, count: end - current.count) }
        current.replaceSubrange(offset..<end, with: bytes)
      case .length(let length):
        current =
          length <= current.count
          ? Array(current[..<length])
          : current + repeatElement(0, count: length - current.count)
      }
    }
  }

  /// Names that lead to other files, or to none.
  private typealias Renaming = [(name: String, inode: Int?)]

  private struct State {
    var inodes: [Int: Inode] = [:]
    var names: [String: Int] = [:]
    var confirmedNames: [String: Int] = [:]
    var renamings: [Renaming] = []
    var descriptors: [Int32: Int] = [:]
    var last: Int32 = 10
    var calls = 0
    var fault: (call: Int, kind: Fault)?
    var isDead = false
  }

  // SAFETY: the state is used under the lock only.
  private final class Box: @unchecked Sendable { var state = State() }
  private let box = Box()
  private let lock = Mutex(())

  private func with<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    lock.withLock { _ in body(&box.state) }
  }

  /// How many calls there were.
  var count: Int { with { $0.calls } }

  /// The bytes of a file; nil where there is none.
  func content(_ path: String) -> [UInt8]? {
    with { state in state.names[path].flatMap { state.inodes[$0]?.current } }
  }

  var names: [String] { with { $0.names.keys.sorted() } }

  /// Another process, of which a call may go wrong.
  func restart(fault: (call: Int, kind: Fault)? = nil) {
    with { ($0.descriptors, $0.calls, $0.fault, $0.isDead) = ([:], 0, fault, false) }
  }

  /// A file system with the same content.
  func copy() -> SimulatedFiles {
    let other = SimulatedFiles()
    other.box.state = with { UncheckedSendable($0) }.value
    return other
  }

  private struct UncheckedSendable<Value>: @unchecked Sendable {
    // SAFETY: a copy that its maker alone has.
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  /// The machine stops: what was not confirmed is there in part.
  func losePower(_ generator: inout SeededGenerator) {
    var random = generator
    with { state in
      state.names = state.confirmedNames
      for renaming in state.renamings where Bool.random(using: &random) {
        for (name, inode) in renaming { state.names[name] = inode }
      }
      state.renamings = []
      for (number, var inode) in state.inodes {
        let changes = inode.changes
        (inode.current, inode.changes) = (inode.confirmed, [])
        for change in changes where Int.random(in: 0..<3, using: &random) > 0 {
          guard case .write(let offset, let bytes) = change, Bool.random(using: &random) else {
            inode.apply(change)
            continue
          }
          // Sectors arrive one by one.
          var start = 0
          while start < bytes.count {
            let end = min(bytes.count, ((offset + start) / 512 + 1) * 512 - offset)
            if Bool.random(using: &random) {
              inode.apply(.write(offset + start, Array(bytes[start..<end])))
            }
            start = end
          }
        }
        inode.confirmed = inode.current
        state.inodes[number] = inode
      }
      state.confirmedNames = state.names
    }
    generator = random
  }

  /// A call that may go wrong: its own result, or an error.
  private func call(_ body: (inout State, _ isShort: Bool) -> Int) -> Int {
    with { state in
      state.calls += 1
      if state.isDead { return -Int(EIO) }
      guard let fault = state.fault, fault.call == state.calls else { return body(&state, false) }
      switch fault.kind {
      case .killed:
        state.isDead = true
        return -Int(EIO)
      case .error(let number): return -Int(number)
      case .short: return body(&state, true)
      }
    }
  }

  /// The calls, to be given to a sink.
  var calls: FileCalls {
    FileCalls(
      open: { path, flags in Int32(self.open(path, flags)) },
      close: { descriptor in self.with { _ = $0.descriptors.removeValue(forKey: descriptor) } },
      size: { descriptor in self.call { state, _ in Self.inode(descriptor, state).current.count } },
      read: { descriptor, buffer, offset in
        self.call { state, _ in
          let bytes = Self.inode(descriptor, state).current.dropFirst(offset).prefix(buffer.count)
          buffer.copyBytes(from: bytes)
          return bytes.count
        }
      },
      write: { descriptor, bytes, offset in
        self.change(descriptor) { isShort in
          let count = isShort ? (bytes.count + 1) / 2 : bytes.count
          return (.write(offset, Array(bytes[..<count])), count)
        }
      },
      truncate: { descriptor, length in
        Int32(self.change(descriptor) { _ in (.length(length), 0) })
      },
      beginSync: { _, _ in },
      sync: { descriptor in
        Int32(
          self.call { state, _ in
            guard let number = state.descriptors[descriptor] else { return -Int(EBADF) }
            let current = state.inodes[number]?.current ?? []
            state.inodes[number]?.confirmed = current
            state.inodes[number]?.changes = []
            return 0
          })
      },
      rename: { old, new in
        Int32(
          self.call { state, _ in
            guard let inode = state.names.removeValue(forKey: old) else { return -Int(ENOENT) }
            state.names[new] = inode
            state.renamings.append([(old, nil), (new, inode)])
            return 0
          })
      },
      remove: { path in
        Int32(
          self.call { state, _ in
            guard state.names.removeValue(forKey: path) != nil else { return -Int(ENOENT) }
            state.renamings.append([(path, nil)])
            return 0
          })
      },
      syncFolder: { _ in
        Int32(
          self.call { state, _ in
            (state.confirmedNames, state.renamings) = (state.names, [])
            return 0
          })
      })
  }

  private static func inode(_ descriptor: Int32, _ state: State) -> Inode {
    state.descriptors[descriptor].flatMap { state.inodes[$0] } ?? Inode()
  }

  private func change(_ descriptor: Int32, _ make: (_ isShort: Bool) -> (Change, Int)) -> Int {
    call { state, isShort in
      guard let number = state.descriptors[descriptor] else { return -Int(EBADF) }
      let (change, result) = make(isShort)
      state.inodes[number]?.apply(change)
      state.inodes[number]?.changes.append(change)
      return result
    }
  }

  private func open(_ path: String, _ flags: Int32) -> Int {
    call { state, _ in
      if let number = state.names[path] {
        if flags & O_EXCL != 0 { return -Int(EEXIST) }
        return Self.descriptor(number, &state)
      }
      guard flags & O_CREAT != 0 else { return -Int(ENOENT) }
      let number = (state.inodes.keys.max() ?? 0) + 1
      state.inodes[number] = Inode()
      state.names[path] = number
      state.renamings.append([(path, number)])
      return Self.descriptor(number, &state)
    }
  }

  private static func descriptor(_ inode: Int, _ state: inout State) -> Int {
    state.last += 1
    state.descriptors[state.last] = inode
    return Int(state.last)
  }
}
