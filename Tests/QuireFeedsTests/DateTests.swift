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
      // RFC 822 and 2822, and violations of them.
      ("Thu, 01 Jan 2004 19:48:21 GMT", "2004-01-01T19:48:21Z"),
      ("Thu, 01 Jan 04 19:48:21 GMT", "2004-01-01T19:48:21Z"),
      ("Mon, 01 Jan 2004 19:48:21 GMT", "2004-01-01T19:48:21Z"),
      ("01 Jan 2004 19:48 +0000", "2004-01-01T19:48:00Z"),
      ("Thursday, 1 January 2004 19:48:21 EST", "2004-01-02T00:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 -0500", "2004-01-02T00:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 +05:30", "2004-01-01T14:18:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 -500", "2004-01-02T00:48:21Z"),
      ("2004-01-01T19:48:21+530", "2004-01-01T14:18:21Z"),
      ("Thu,  1 Jan 2004 19:48:21 CEST", "2004-01-01T17:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 GMT+0200 (CEST)", "2004-01-01T17:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 GMT +0000", "2004-01-01T19:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 EST -0500", "2004-01-02T00:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 WITA", "2004-01-01T11:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 IRST", "2004-01-01T16:18:21Z"),
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
      ("2003-12-31T10:14Z", "2003-12-31T10:14:00Z"), ("2003-12-31T10Z", "2003-12-31T10:00:00Z"),
      ("2003-12-31T10+02:00", "2003-12-31T08:00:00Z"), ("20031231T10", "2003-12-31T10:00:00Z"),
      ("2003-12-31", "2003-12-31T00:00:00Z"), ("2003-12", "2003-12-01T00:00:00Z"),
      ("2003", "2003-01-01T00:00:00Z"), ("20031231", "2003-12-31T00:00:00Z"),
      ("20031231T1014+0200", "2003-12-31T08:14:00Z"), ("20031231T1014", "2003-12-31T10:14:00Z"),
      ("20031231T101455Z", "2003-12-31T10:14:55Z"), ("2003-365", "2003-12-31T00:00:00Z"),
      ("2003/12/31 10:14:55", "2003-12-31T10:14:55Z"),
      ("2003335", "2003-12-01T00:00:00Z"),
      ("2003-12-31T10:14:55.123456789-08:00", "2003-12-31T18:14:55Z"),
      ("2003-12-31T24:00:00Z", "2004-01-01T00:00:00Z"), ("2003-12-31Z", "2003-12-31T00:00:00Z"),
      ("03-12-31", "2003-12-31T00:00:00Z"),
      // W3C-DTF's own examples (w3.org/TR/NOTE-datetime).
      ("1997", "1997-01-01T00:00:00Z"), ("1997-07", "1997-07-01T00:00:00Z"),
      ("1997-07-16", "1997-07-16T00:00:00Z"), ("1997-07-16T19:20+01:00", "1997-07-16T18:20:00Z"),
      ("1997-07-16T19:20:30.45+01:00", "1997-07-16T18:20:30Z"),
      // RFC 3339, §5.8.
      ("1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50Z"),
      ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57Z"),
      ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00Z"),
      ("1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27Z"),
      // RFC 822, §5, RFC 2822, appendix A, RFC 9110, §5.6.7.
      ("26 Aug 76 14:29 EDT", "1976-08-26T18:29:00Z"),
      ("Fri, 21 Nov 1997 09:55:06 -0600", "1997-11-21T15:55:06Z"),
      ("Tue, 1 Jul 2003 10:52:37 +0200", "2003-07-01T08:52:37Z"),
      ("Thu, 13 Feb 1969 23:32:54 -0330", "1969-02-14T03:02:54Z"),
      ("21 Nov 97 09:55:06 GMT", "1997-11-21T09:55:06Z"),
      ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
      ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
      ("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"),
      // CDF (Microsoft's submission to the W3C of 1997).
      ("1998.11.05T22:15-0500", "1998-11-06T03:15:00Z"),
      ("1998-11-05T22:15", "1998-11-05T22:15:00Z"),
      // The output of programs: MSSQL, Perforce, Go, Python, Java, JavaScript, date(1).
      ("2004-07-08 23:56:58.0", "2004-07-08T23:56:58Z"),
      ("Fri, 2006/09/15 08:19:53 EDT", "2006-09-15T12:19:53Z"),
      ("2004-01-01 19:48:21.123456 -0700 MST", "2004-01-02T02:48:21Z"),
      ("2004-01-01 19:48:21 +0000 UTC", "2004-01-01T19:48:21Z"),
      ("2004-01-01 19:48:21.123456+00:00", "2004-01-01T19:48:21Z"),
      ("Thu Jan 01 19:48:21 UTC 2004", "2004-01-01T19:48:21Z"),
      (
        "Thu Jan 01 2004 19:48:21 GMT+0100 (Central European Standard Time)", "2004-01-01T18:48:21Z"
      ),
      ("Jan 1, 2004 7:48:21 p.m.", "2004-01-01T19:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 America/New_York", "2004-01-01T19:48:21Z"),
      ("Thu, 01 Jan 2004 19:48:21 \u{2212}0500", "2004-01-02T00:48:21Z"),
      ("1\u{A0}Jan\u{A0}2004", "2004-01-01T00:00:00Z"),
      ("1er janvier 2004", "2004-01-01T00:00:00Z"),
      ("le 3 juin 2003 à 09:39", "2003-06-03T09:39:00Z"),
      ("3 de junio de 2003 a las 09:39", "2003-06-03T09:39:00Z"),
      // Other languages, as feedparser's users found them.
      ("Κυρ, 11 Ιούλ 2004 12:00:00 EST", "2004-07-11T17:00:00Z"),
      ("2004-július-13T9:15-05:00", "2004-07-13T14:15:00Z"),
      ("2004. július 13. 9:15", "2004-07-13T09:15:00Z"),
      ("13. července 2004", "2004-07-13T00:00:00Z"),
      ("13. heinäkuuta 2004", "2004-07-13T00:00:00Z"), ("13 липня 2004", "2004-07-13T00:00:00Z"),
      ("13 июля 2004 г. 10:00", "2004-07-13T10:00:00Z"), ("13 iulie 2004", "2004-07-13T00:00:00Z"),
      ("13 de juliol de 2004", "2004-07-13T00:00:00Z"), ("13 Agustus 2004", "2004-08-13T00:00:00Z"),
      ("2003年6月3日(火) 09:39", "2003-06-03T09:39:00Z"),
      // Others.
      ("Thu Jan  1 19:48:21 2004", "2004-01-01T19:48:21Z"),
      ("Thu Jan 1 19:48:21 PST 2004", "2004-01-02T03:48:21Z"),
      ("January 1st, 2004 7:48 pm", "2004-01-01T19:48:00Z"),
      ("31.12.2003 10:14", "2003-12-31T10:14:00Z"), ("12/31/2003", "2003-12-31T00:00:00Z"),
      ("31/12/2003 10:14:55 GMT", "2003-12-31T10:14:55Z"),
      ("12/31/99 10:00 -0500", "1999-12-31T15:00:00Z"),
      ("03/04/15 10:00 -0500", "2015-03-04T15:00:00Z"),
      ("Wed. 03/04/2015 10:00", "2015-03-04T10:00:00Z"),
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
      "2003-12-31T25:00:00Z", "2003-366", "2003000", "99999999999999999999", "Thu,", "::::",
      "2004-01-01T10:10:10+99:00", "2004-01-01T1", "2004-01-01T10:", "2004-01-01T25Z",
      // What programs write that have no date: Go and .NET, PHP.
      "Mon, 01 Jan 0001 00:00:00 +0000", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+02:00",
      "-0001-11-30T00:00:00+00:00", "Mon, 30 Nov -0001 00:00:00 +0000",
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
    // A comment (RFC 822, §3.4.3), and a comma where none may be.
    #expect(try repairs("Tue, 03 Jun 2003 02:39:21 -0700 (PDT)") == [])
    #expect(try repairs("Tue, 03 Jun 2003 02:39:21 -0700 (PDT") == [.unusualDate])
    #expect(try repairs("Tue, 03 Jun 2003, 02:39:21 GMT") == [.unusualDate])
  }

  @Test(
    "17-Repairs: a date of Atom, JSON Feed or a sitemap that is not as its format writes it is counted"
  )
  func standards() throws {
    func atom(_ date: String) throws -> [FeedRepair.Kind] {
      try parsed(
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><updated>\(date)</updated></entry></feed>"
      ).feed.repairs.map(\.kind)
    }
    func json(_ date: String) throws -> [FeedRepair.Kind] {
      try parsed(
        "{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[{\"date_published\":\"\(date)\"}]}"
      ).feed.repairs.map(\.kind)
    }
    func sitemap(_ date: String) throws -> [FeedRepair.Kind] {
      try parsed("<urlset><url><lastmod>\(date)</lastmod></url></urlset>").feed.repairs.map(\.kind)
    }
    for date in [
      "2003-12-13T18:30:02Z", "2003-12-13T18:30:02.25+01:00", "1990-12-31T23:59:59.1234567890Z",
    ] {
      #expect(try atom(date) == [] && json(date) == [] && sitemap(date) == [], "\(date)")
    }
    for date in [
      "2003-12-13T8:30:02Z", "2003-12-13T18:30:02,5Z", "2003-2-3T18:30:02Z",
      "2003-12-13T24:00:00Z", "2003-12-13T18:30:02+7:00", "2003-12-13T18:30:02\u{2212}07:00",
      "2003-12-13 18:30:02Z", "2003-12-13T18:30:02+0100",
    ] {
      let unusual = [FeedRepair.Kind.unusualDate]
      #expect(try atom(date) == unusual && json(date) == unusual, "\(date)")
      #expect(try sitemap(date) == unusual, "\(date)")
    }
    // RFC 3339 allows lowercase letters, but Atom does not (RFC 4287, §3.3).
    #expect(try json("2003-12-13t18:30:02z") == [])
    #expect(try atom("2003-12-13t18:30:02z") == [.unusualDate])
    for date in ["2004", "2004-12", "2004-12-23", "2004-12-23T18:00+00:00"] {
      #expect(try sitemap(date) == [] && atom(date) == [.unusualDate], "\(date)")
    }
    #expect(try sitemap("2004-2") == [.unusualDate])
  }
}
