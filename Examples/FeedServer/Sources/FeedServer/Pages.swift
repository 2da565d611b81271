import Foundation
import QuireFeeds

/// An entry as pages and the interface show it: words only, no markup of the feed.
struct ShownEntry: Encodable {
  let number: Int64
  let title: String
  let source: String
  let sourceID: String
  let url: String?
  let date: String
  let text: String
  let isRead: Bool

  init(_ stored: StoredEntry, source: String?) {
    number = stored.number
    let title = stored.entry.title?.plain ?? ""
    self.title = title.isEmpty ? "Untitled" : String(title.prefix(200))
    self.source = source ?? stored.subscription
    sourceID = stored.subscription
    // Only addresses of the web become links.
    let address = stored.entry.url ?? stored.entry.externalURL
    url = address.flatMap { $0.hasPrefix("http://") || $0.hasPrefix("https://") ? $0 : nil }
    date = Date(timeIntervalSince1970: stored.date).formatted(.iso8601)
    text = String((stored.entry.text?.plain ?? "").prefix(400))
    isRead = stored.isRead
  }
}

extension String {
  /// The text inside of HTML or XML, or of an attribute.
  var escaped: String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\u{0}"..."\u{8}", "\u{B}", "\u{C}", "\u{E}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": break
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The text as the value of a query's parameter.
  var queryValue: String {
    addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}

/// The frame around every page.
struct Frame {
  var title: String
  var body: String

  var text: String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(title.escaped)</title>
    <link rel="stylesheet" href="/reader.css">
    <link rel="alternate" type="application/atom+xml" href="/atom.xml" title="All entries">
    <script src="/reader.js" defer></script>
    </head>
    <body>
    <a class="skip" href="#main">Skip to the entries</a>
    <header><nav aria-label="Main"><a href="/">Entries</a> <a href="/feeds">Feeds</a>
    <a href="/atom.xml">Atom</a> <a href="/opml">OPML</a></nav></header>
    \(body)
    </body>
    </html>
    """
  }
}

/// The merged entries, newest first, with a link to the next page for readers without JavaScript.
struct ReaderPage {
  var entries: [StoredEntry]
  var names: [String: String]
  var selection: EntrySelection
  var next: String?

  var text: String {
    let options = names.sorted { $0.value.lowercased() < $1.value.lowercased() }.map {
      id, name -> String in
      let selected = selection.subscription == id ? " selected" : ""
      return "<option value=\"\(id.escaped)\"\(selected)>\(name.escaped)</option>"
    }.joined()
    let items = entries.map { item(ShownEntry($0, source: names[$0.subscription])) }.joined()
    let more = next.map {
      "<a id=\"more\" rel=\"next\" href=\"/?\(query)cursor=\($0)\">Older entries</a>"
    }
    return Frame(
      title: "Entries",
      body: """
        <form class="filter" action="/" role="search">
        <label>Search <input type="search" name="q" value="\((selection.text ?? "").escaped)"></label>
        <label>Source <select name="source"><option value="">All</option>\(options)</select></label>
        <label><input type="checkbox" name="unread" value="1"\(selection.isUnread ? " checked" : "")>
        Unread only</label>
        <button>Show</button>
        </form>
        <main id="main" tabindex="-1"><h1>Entries</h1>
        <ol id="entries" class="entries">\(items)</ol>
        <p class="more" aria-live="polite">\(more ?? "<span id=\"end\">That is all.</span>")</p></main>
        """
    ).text
  }

  private var query: String {
    var query = ""
    if let source = selection.subscription { query += "source=\(source.queryValue)&amp;" }
    if let text = selection.text { query += "q=\(text.queryValue)&amp;" }
    if selection.isUnread { query += "unread=1&amp;" }
    return query
  }

  private func item(_ entry: ShownEntry) -> String {
    let title =
      entry.url.map {
        "<a href=\"\($0.escaped)\" rel=\"noopener noreferrer\">\(entry.title.escaped)</a>"
      } ?? entry.title.escaped
    return """
      <li id="entry-\(entry.number)" data-number="\(entry.number)"\(entry.isRead ? " class=\"read\"" : "")>
      <article><h2>\(title)</h2>
      <p class="about"><a href="/?source=\(entry.sourceID.queryValue)">\(entry.source.escaped)</a>
      <time datetime="\(entry.date)">\(entry.date.prefix(10))</time></p>
      <p>\(entry.text.escaped)</p>
      <form method="post" action="/api/entries/\(entry.number)/read"><input type="hidden" name="from"
      value="page"><button name="read" value="\(entry.isRead ? "0" : "1")">\(entry.isRead
        ? "Mark as unread" : "Mark as read")</button></form></article></li>
      """
  }
}

/// The feeds, and how each of them does.
struct HealthPage {
  var subscriptions: [FeedSubscription]

  var text: String {
    let rows = subscriptions.map { subscription -> String in
      let health = subscription.health
      let state = health.lastError ?? (health.polls == 0 ? "not polled yet" : "well")
      let next =
        subscription.schedule.nextPoll.isFinite
        ? Date(timeIntervalSince1970: subscription.schedule.nextPoll).formatted(.iso8601) : "never"
      return """
        <tr class="\(health.lastError == nil ? "well" : "ill")"><th scope="row">
        <a href="/?source=\(subscription.id.queryValue)">\(subscription.name.escaped)</a></th>
        <td>\(String(state.prefix(300)).escaped)</td><td>\(health.entries)</td>
        <td>\(health.polls)</td><td>\(health.unchanged)</td><td>\(health.repairs)</td>
        <td>\(next)</td></tr>
        """
    }.joined()
    return Frame(
      title: "Feeds",
      body: """
        <main id="main" tabindex="-1"><h1>Feeds</h1>
        <form class="filter" method="post" action="/feeds">
        <label>Address <input name="url" type="url"></label> <button>Subscribe</button></form>
        <form class="filter" method="post" action="/feeds">
        <label>OPML <textarea name="opml" rows="3" id="opml"></textarea></label>
        <label>or a file <input type="file" id="opml-file" accept=".opml,.xml"></label>
        <button>Import</button></form>
        <div class="wide"><table><thead><tr><th scope="col">Feed</th><th scope="col">State</th>
        <th scope="col">Entries</th><th scope="col">Polls</th><th scope="col">Unchanged</th>
        <th scope="col">Repairs</th><th scope="col">Next poll</th></tr></thead>
        <tbody>\(rows)</tbody></table></div></main>
        """
    ).text
  }
}

/// The merge as Atom (RFC 4287), with a link to the next page (RFC 5005).
struct AtomFeed {
  var entries: [StoredEntry]
  var names: [String: String]
  var origin: String
  var next: String?

  var text: String {
    let updated = Date(timeIntervalSince1970: entries.first?.date ?? 0).formatted(.iso8601)
    let more = next.map { "<link rel=\"next\" href=\"\(origin.escaped)/atom.xml?cursor=\($0)\"/>" }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <feed xmlns="http://www.w3.org/2005/Atom"><title>All entries</title>
      <id>\(origin.escaped)/atom.xml</id><updated>\(updated)</updated>
      <link rel="self" href="\(origin.escaped)/atom.xml"/>\(more ?? "")
      \(entries.map(entry).joined(separator: "\n"))
      </feed>
      """
  }

  private func entry(_ stored: StoredEntry) -> String {
    let shown = ShownEntry(stored, source: names[stored.subscription])
    let link = shown.url.map { "<link rel=\"alternate\" href=\"\($0.escaped)\"/>" } ?? ""
    return """
      <entry><id>\(origin.escaped)/#entry-\(stored.number)</id><title>\(shown.title.escaped)</title>
      <updated>\(shown.date)</updated><author><name>\(shown.source.escaped)</name></author>\(link)
      <summary>\(shown.text.escaped)</summary></entry>
      """
  }
}
