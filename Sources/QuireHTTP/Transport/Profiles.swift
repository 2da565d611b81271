public import QuirePagination

// The guide "Rate limits and retries" gives the reasons for the values of each profile.

extension Timeouts {
  /// Timeouts for unattended work of hours: half an hour for a page as long as bytes arrive, and a
  /// minute for a server that sends nothing.
  public static let export = Timeouts(
    head: .seconds(60), stall: .seconds(60), total: .seconds(30 * 60))

  /// Timeouts for feeds of thousands of unknown hosts, of which slow ones are asked again anyway.
  public static let feed = Timeouts(
    head: .seconds(15), stall: .seconds(10), total: .seconds(30))
}

extension TransferLimits {
  /// Limits for exports from a trusted server: 256 MiB on the wire and 1 GiB decoded for a page,
  /// because repetitive rows may be inflated 200 times.
  public static let export = TransferLimits(
    wireBytes: 256 << 20, decodedBytes: 1 << 30, inflateRatio: 200, inflateRatioFloor: 4 << 20)

  /// Limits for feeds of unknown hosts: 15 MiB on the wire and 32 MiB decoded, inflated at most 200
  /// times, because the addresses of a sitemap may be inflated 70 times.
  public static let feed = TransferLimits(
    headerBytes: 32 << 10, wireBytes: 15 << 20, decodedBytes: 32 << 20, inflateRatio: 200)
}

extension DecodingLimits {
  /// Limits for exports from a trusted server: a million items in a page, 64 MiB for an item.
  public static let export = DecodingLimits(
    items: 1_000_000, itemBytes: 64 << 20, events: 50_000_000)
}

extension PageClient.Configuration {
  /// A configuration for unattended work of hours, with the `export` profile of timeouts, limits
  /// and retries.
  public static var export: Self {
    var configuration = Self()
    configuration.timeouts = .export
    configuration.transferLimits = .export
    configuration.decodingLimits = .export
    configuration.retry = .export
    return configuration
  }
}
