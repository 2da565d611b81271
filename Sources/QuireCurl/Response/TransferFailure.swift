import QuireCore

/// Why a transfer cannot be whole, before it is known how many requests it took.
struct TransferFailure: Error, Equatable {
  var code: PageError.Code
  var message: String

  init(_ code: PageError.Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
