/// How long a consumer waited for pages, and the pages for the consumer.
struct WaitingTimes: Hashable, Sendable {
  private(set) var forNetwork: Duration = .zero
  private(set) var forConsumer: Duration = .zero
  private var lastAnswer: Duration?

  /// The consumer asked at one time and was answered at another.
  mutating func waited(from begin: Duration, to end: Duration) {
    if let lastAnswer { forConsumer += max(.zero, begin - lastAnswer) }
    forNetwork += end - begin
    lastAnswer = end
  }
}
