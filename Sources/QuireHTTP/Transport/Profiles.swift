public import QuirePagination

// The numbers of each profile are argued in the guide "Rate limits and retries".

extension Timeouts {
  /// For work of hours that nobody watches: a page may take half an hour, as long as bytes come; a server
  /// that sends nothing is given a minute.
  public static let export = Timeouts(
    head: .seconds(60), stall: .seconds(60), total: .seconds(30 * 60))

  /// For feeds from anywhere: thousands of hosts are asked, and one that is slow is asked again anyway.
  public static let feed = Timeouts(
    head: .seconds(15), stall: .seconds(10), total: .seconds(30))
}

extension TransferLimits {
  /// For exports from a server that is trusted to mean well: 256 MiB on the wire and 1 GiB decoded for a
  /// page, which repetitive rows may be inflated 200 times to.
  public static let export = TransferLimits(
    wireBytes: 256 << 20, decodedBytes: 1 << 30, inflateRatio: 200, inflateRatioFloor: 4 << 20)

  /// For feeds from anywhere: 15 MiB on the wire, 32 MiB decoded, inflated 50 times at most.
  public static let feed = TransferLimits(
    headerBytes: 32 << 10, wireBytes: 15 << 20, decodedBytes: 32 << 20, inflateRatio: 50)
}

extension DecodingLimits {
  /// For exports from a server that is trusted to mean well: a million items in a page, 64 MiB an item.
  public static let export = DecodingLimits(
    items: 1_000_000, itemBytes: 64 << 20, events: 50_000_000)
}

extension PageClient.Configuration {
  /// For work of hours that nobody watches: the timeouts, limits and retries of that name.
  public static var export: Self {
    var configuration = Self()
    configuration.timeouts = .export
    configuration.transferLimits = .export
    configuration.decodingLimits = .export
    configuration.retry = .export
    return configuration
  }
}
