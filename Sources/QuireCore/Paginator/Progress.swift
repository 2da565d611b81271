/// How far a consumer is: items counted over the whole walk.
struct Progress: Hashable, Sendable {
  /// Items the consumer is done with, the one in hand included.
  var consumed = 0
  /// Items loaded.
  var loaded = 0
  /// Items of the last page that has any.
  var lastPage = 0
}
