import Synchronization

extension PaginatorRunner {
  /// Looks at the machine, or sets what causes nothing at once.
  func withMachine<Result: Sendable>(_ body: @Sendable (inout Machine) -> Result) -> Result {
    state.withLock { body(&$0.machine) }
  }

  /// A queue of what is observed from now on, beginning with what `first` makes of the moment.
  func listen<Element: Sendable>(
    _ first: @Sendable (Machine) -> Element?,
    _ observation: @escaping @Sendable (PaginatorEvent<Item>) -> Element?
  ) -> Mailbox<Element> {
    state.withLock { state in
      let mailbox = Mailbox(first(state.machine).map { [$0] } ?? [])
      state.listeners.removeAll { !$0.isListening }
      state.listeners.append(Listener(mailbox, observation: observation))
      return mailbox
    }
  }
}

extension Mailbox {
  /// A queue of nothing, for those who listen too late.
  static func finished() -> Mailbox {
    let mailbox = Mailbox()
    mailbox.finish()
    return mailbox
  }
}
