extension Int {
  /// So many things in words, in the plural unless it is one: `3 pages`.
  package func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) " + (self == 1 ? one : many ?? one + "s")
  }
}
