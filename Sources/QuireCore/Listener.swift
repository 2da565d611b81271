/// Somebody who listens, as the one who is listened to knows them: without keeping them.
struct Listener<Event: Sendable>: Sendable {
  private let mailbox: @Sendable () -> (any Sendable)?
  /// Puts an event into the listener's queue; see `Mailbox.post(_:)`.
  let post: @Sendable (Event) -> (@Sendable () -> Void)?
  /// Says that nothing comes any more.
  let finish: @Sendable () -> Void

  /// Whether anybody still holds the queue.
  var isListening: Bool { mailbox() != nil }

  /// A listener to those events of which `observation` makes something.
  init<Element>(
    _ mailbox: Mailbox<Element>, observation: @escaping @Sendable (Event) -> Element?
  ) {
    self.mailbox = { [weak mailbox] in mailbox }
    post = { [weak mailbox] event in
      guard let mailbox, let element = observation(event) else { return nil }
      return mailbox.post(element)
    }
    finish = { [weak mailbox] in mailbox?.finish() }
  }
}
