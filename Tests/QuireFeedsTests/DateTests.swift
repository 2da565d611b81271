import QuireFeeds
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Feeds: dates")
struct DateTests {
  @Test(
    "F7, 17-Dates: dates of every habit are read",
    arguments: [
      // RFC 822, 2822, and their breaches.
      ("Thu, 01 Jan 2004 19:48:21 GMT", "2004-01-01T19:48:21Z"),
      ("Thu, 01 Jan 04 19:48:21 GMT", "2004-01-01T19:48:21Z"),
      ("Mon, 01 Jan 2004 19:48:21 GMT", "2004-01-01T19:48:21Z"),
      ("01 Jan 2004 19:48 +0000", "2004-01-01T19:48:00Z"),
      ("Thursday, 1 January 2004 19:48:21 EST", "2004-01-02T00:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 -0500", "2004-01-02T00:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 +05:30", "2004-01-01T14:18:21Z"),
      ("Thu,  1 Jan 2004 19:48:21 CEST", "2004-01-01T17:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 GMT+0200 (CEST)", "2004-01-01T17:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21", "2004-01-01T19:48:21Z"),
      ("Thu, 01 Jan 2004 24:00:00 GMT", "2004-01-02T00:00:00Z"),
      ("Thu, 01-Jan-2004 19:48:21 GMT", "2004-01-01T19:48:21Z"),
      ("Thu 01 Jan 2004 7:48:21 PM", "2004-01-01T19:48:21Z"),
      ("1 Jan 2004", "2004-01-01T00:00:00Z"),
      ("Sun, 31 Dec 1995 23:59:60 GMT", "1996-01-01T00:00:00Z"),
      // RFC 3339 and ISO 8601.
      ("2003-12-31T10:14:55Z", "2003-12-31T10:14:55Z"),
      ("2003-12-31t10:14:55.25z", "2003-12-31T10:14:55Z"),
      ("2003-12-31T10:14:55-08:00", "2003-12-31T18:14:55Z"),
      ("2003-12-31T10:14:55+0100", "2003-12-31T09:14:55Z"),
      ("2003-12-31 10:14:55 +0000", "2003-12-31T10:14:55Z"),
      ("2003-12-31T10:14Z", "2003-12-31T10:14:00Z"),
      ("2003-12-31", "2003-12-31T00:00:00Z"), ("2003-12", "2003-12-01T00:00:00Z"),
      ("2003", "2003-01-01T00:00:00Z"), ("20031231", "2003-12-31T00:00:00Z"),
      ("20031231T101455Z", "2003-12-31T10:14:55Z"), ("2003-365", "2003-12-31T00:00:00Z"),
      ("2003/12/31 10:14:55", "2003-12-31T10:14:55Z"),
      // Others.
      ("Thu Jan  1 19:48:21 2004", "2004-01-01T19:48:21Z"),
      ("Thu Jan 1 19:48:21 PST 2004", "2004-01-02T03:48:21Z"),
      ("January 1st, 2004 7:48 pm", "2004-01-01T19:48:00Z"),
      ("31.12.2003 10:14", "2003-12-31T10:14:00Z"), ("12/31/2003", "2003-12-31T00:00:00Z"),
      ("31/12/2003 10:14:55 GMT", "2003-12-31T10:14:55Z"),
      ("Do, 01 Jan 2004 19:48:21 +0100", "2004-01-01T18:48:21Z"),
      ("1 Okt 2004 19:48:21 +0200", "2004-10-01T17:48:21Z"),
      ("1073002101", "2004-01-02T00:08:21Z"), ("1073002101000", "2004-01-02T00:08:21Z"),
    ])
  func read(text: String, expected: String) throws {
    let date = try #require(FeedDate.read(text), "\(text)")
    #expect(date.timeIntervalSince1970.rounded(.down) == (try seconds(expected)), "\(text)")
  }

  @Test(
    "17-Dates: what is no date is none",
    arguments: [
      "", "yesterday", "2003-02-30", "2003-13-01", "Thu, 32 Jan 2004 19:48:21 GMT",
      "2003-12-31T25:00:00Z", "99999999999999999999", "Thu,", "::::", "2004-01-01T10:10:10+99:00",
      String(repeating: "1 ", count: 5_000),
    ])
  func none(text: String) {
    #expect(FeedDate.read(text) == nil, "\(text.prefix(40))")
  }

  @Test(
    "17-Repairs: a date that is not as its format writes dates is counted, and one that cannot be read is nil"
  )
  func counted() throws {
    func repairs(_ date: String) throws -> [FeedRepair.Kind] {
      try parsed(
        "<rss version='2.0'><channel><item><pubDate>\(date)</pubDate></item></channel></rss>"
      )
      .entries[0].repairs.map(\.kind)
    }
    #expect(try repairs("Thu, 01 Jan 2004 19:48:21 GMT") == [])
    #expect(try repairs("Thu, 01 Jan 04 19:48:21 EST") == [])
    #expect(try repairs("Mon, 01 Jan 2004 19:48:21 GMT") == [.unusualDate])
    #expect(try repairs("Thu, 01 Jan 2004 19:48:21 CET") == [.unusualDate])
    #expect(try repairs("2004-01-01T19:48:21Z") == [.unusualDate])
    #expect(try repairs("soon") == [.unreadableDate])
  }
}
