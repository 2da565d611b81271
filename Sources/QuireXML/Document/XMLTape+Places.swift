extension XMLTape {
  /// Where a byte of `source` stands in the page. Linear in what is before it: only for messages.
  func place(of offset: Int) -> XMLPlace {
    var place = origin
    place.advance(
      over: UnsafeBufferPointer(start: source.base, count: min(max(offset, 0), source.count)))
    return place
  }
}
