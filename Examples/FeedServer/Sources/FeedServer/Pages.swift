import Foundation
import QuireFeeds

/// An entry as the web pages and the JSON interface show it: as plain text, without the feed's
/// markup.
struct ShownEntry: Encodable {
  let number: Int64
  let title: String
  let source: String
  let sourceID: String
  let url: String?
  let date: String
  let text: String
  let isRead: Bool
  /// The date in readable form, such as `20 Nov 2026`, for the web pages only.
  let day: String

  private enum CodingKeys: CodingKey {
    case number, title, source, sourceID, url, date, text, isRead
  }

  init(_ stored: StoredEntry, source: String?) {
    number = stored.number
    let title = stored.entry.title?.plain ?? ""
    self.title = title.isEmpty ? "Untitled" : String(title.prefix(200))
    self.source = source ?? stored.subscription
    sourceID = stored.subscription
    // Only http and https addresses become links.
    let address = stored.entry.url ?? stored.entry.externalURL
    url = address.flatMap { $0.hasPrefix("http://") || $0.hasPrefix("https://") ? $0 : nil }
    let time = Date(timeIntervalSince1970: stored.date)
    date = time.formatted(.iso8601)
    var style = Date.FormatStyle(locale: Locale(identifier: "en_GB"), timeZone: .gmt)
    style = style.day(.defaultDigits).month(.abbreviated).year()
    day = time.formatted(style)
    text = String((stored.entry.text?.plain ?? "").prefix(400))
    isRead = stored.isRead
  }
}

extension String {
  /// The text, escaped for HTML or XML, also inside an attribute.
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

  /// The text, escaped as the value of a query parameter.
  var queryValue: String {
    addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}

/// The HTML around every page.
struct Frame {
  var title: String
  /// The path of the page, which is marked in the navigation bar.
  var place: String
  var body: String

  var text: String {
    let links: KeyValuePairs<String, String> = [
      "/": "Entries", "/feeds": "Feeds", "/atom.xml": "Atom", "/opml": "OPML",
    ]
    let bar = links.map { path, name in
      "<a href=\"\(path)\"\(path == place ? " aria-current=\"page\"" : "")>\(name)</a>"
    }.joined()
    return """
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
      <header class="bar"><div><a class="brand" href="/"><svg viewBox="0 0 24 24" aria-hidden="true">
      <path d="M4 5h16v3H4zm0 5.5h11v3H4zM4 16h7v3H4z"/></svg>Feed Reader</a>
      <nav aria-label="Main">\(bar)</nav></div></header>
      \(body)
      </body>
      </html>
      """
  }
}

/// The web page of merged entries, newest first, with a link to the next page for browsers without
/// JavaScript.
struct ReaderPage {
  var entries: [StoredEntry]
  var subscriptions: [FeedSubscription]
  var selection: EntrySelection
  var next: String?

  private var ordered: [FeedSubscription] {
    subscriptions.sorted { $0.name.lowercased() < $1.name.lowercased() }
  }

  var text: String {
    let names = subscriptions.names
    let items = entries.map { item(ShownEntry($0, source: names[$0.subscription])) }.joined()
    let more = next.map {
      "<a id=\"more\" rel=\"next\" href=\"/?\(query)cursor=\($0)\">Older entries</a>"
    }
    let list =
      entries.isEmpty
      ? "<p class=\"none\">\(nothing)</p>" : "<ol id=\"entries\" class=\"entries\">\(items)</ol>"
    let end = entries.isEmpty ? "" : "<span id=\"end\">That is all.</span>"
    let name = selection.subscription.map { names[$0] ?? $0 }
    return Frame(
      title: name ?? "Entries", place: "/",
      body: """
        <div class="columns">\(sources)
        <main id="main" tabindex="-1"><div class="head"><h1>\((name ?? "All entries").escaped)</h1>
        \(filter)</div>\(list)
        <p class="more" aria-live="polite">\(more ?? end)</p>
        <p class="keys"><kbd>j</kbd> <kbd>k</kbd> next and previous · <kbd>m</kbd> mark · <kbd>/</kbd> search</p>
        </main></div>
        """
    ).text
  }

  /// The text that says why there are no entries, and what to do.
  private var nothing: String {
    if selection.text != nil || selection.isUnread || selection.subscription != nil {
      return "No entries match. <a href=\"/\">Show all entries</a>"
    }
    if subscriptions.isEmpty {
      return "There are no feeds yet. <a href=\"/feeds\">Subscribe to one</a>"
    }
    return "The feeds are being read. <a href=\"/\">Look again</a>"
  }

  /// The form for search and filters.
  private var filter: String {
    let options = ordered.map { feed in
      let selected = selection.subscription == feed.id ? " selected" : ""
      return "<option value=\"\(feed.id.escaped)\"\(selected)>\(feed.name.escaped)</option>"
    }.joined()
    return """
      <form class="filter" action="/" role="search">
      <input type="search" name="q" aria-label="Search" placeholder="Search"
      value="\((selection.text ?? "").escaped)">
      <label class="narrow"><select name="source" aria-label="Source"><option value="">All sources</option>
      \(options)</select></label>
      <label><input type="checkbox" name="unread" value="1"\(selection.isUnread ? " checked" : "")>
      Unread only</label> <button>Show</button></form>
      """
  }

  /// The navigation bar of feeds, grouped by folder.
  private var sources: String {
    let all = subscriptions.reduce(0) { $0 + $1.health.entries }
    var groups: [(folder: String, links: String)] = []
    for feed in subscriptions.sorted(by: {
      ($0.folders.first ?? "", $0.name) < ($1.folders.first ?? "", $1.name)
    }) {
      let folder = feed.folders.first ?? "Others"
      if groups.last?.folder != folder { groups.append((folder, "")) }
      groups[groups.count - 1].links += link(
        "/?source=\(feed.id.queryValue)", feed.name, feed.health.entries,
        isCurrent: selection.subscription == feed.id)
    }
    let lists = groups.map { "<h2>\($0.folder.escaped)</h2><ul>\($0.links)</ul>" }.joined()
    return """
      <nav class="sources" aria-label="Sources"><ul>\(link(
        "/", "All entries", all, isCurrent: selection.subscription == nil))</ul>\(lists)</nav>
      """
  }

  private func link(_ path: String, _ name: String, _ count: Int, isCurrent: Bool) -> String {
    """
    <li><a href="\(path)"\(isCurrent ? " aria-current=\"true\"" : "")>\(name.escaped)
    <span>\(count)</span></a></li>
    """
  }

  /// The query of a link that keeps the current selection, escaped for HTML.
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
      <article><div class="about"><a href="/?source=\(entry.sourceID.queryValue)">\(entry.source.escaped)</a>
      <time datetime="\(entry.date)">\(entry.day)</time>
      <form method="post" action="/api/entries/\(entry.number)/read"><input type="hidden" name="from"
      value="page"><button name="read" value="\(entry.isRead ? "0" : "1")">\(entry.isRead
        ? "Mark as unread" : "Mark as read")</button></form></div>
      <h2>\(title)</h2><p class="excerpt">\(entry.text.escaped)</p></article></li>
      """
  }
}

extension [FeedSubscription] {
  /// The title of each feed, by its identifier.
  var names: [String: String] { Dictionary(uniqueKeysWithValues: map { ($0.id, $0.name) }) }
}

/// The web page of feeds and the health of each.
struct HealthPage {
  var subscriptions: [FeedSubscription]

  var text: String {
    let ill = subscriptions.count { $0.health.lastError != nil }
    let figures: KeyValuePairs<String, Int> = [
      "Feeds": subscriptions.count, "Out of order": ill,
      "Entries": subscriptions.reduce(0) { $0 + $1.health.entries },
      "Polls": subscriptions.reduce(0) { $0 + $1.health.polls },
    ]
    // Feeds with problems come first.
    let rows = subscriptions.sorted {
      ($0.health.lastError == nil ? 1 : 0, $0.name) < ($1.health.lastError == nil ? 1 : 0, $1.name)
    }.map(row).joined()
    let shown = figures.map { "<div><dt>\($0.key)</dt><dd>\($0.value)</dd></div>" }.joined()
    return Frame(
      title: "Feeds", place: "/feeds",
      body: """
        <div class="columns single"><main id="main" tabindex="-1"><div class="head"><h1>Feeds</h1></div>
        <dl class="figures">\(shown)</dl>\(forms)
        <div class="wide" role="region" aria-label="Health of each feed" tabindex="0"><table><thead><tr><th scope="col">Feed</th><th scope="col">State</th>
        <th scope="col" class="number">Entries</th><th scope="col" class="number">Polls</th>
        <th scope="col" class="number">Unchanged</th><th scope="col" class="number">Repairs</th>
        <th scope="col">Next poll (UTC)</th></tr></thead><tbody>\(rows)</tbody></table></div></main></div>
        """
    ).text
  }

  private var forms: String {
    """
    <details class="card"><summary>Subscribe, or import a list</summary>
    <form class="filter" method="post" action="/feeds"><label class="grow">Address of a feed
    <input name="url" type="url" placeholder="https://example.org/feed" required></label>
    <button class="main-button">Subscribe</button></form>
    <form method="post" action="/feeds"><label>OPML
    <textarea name="opml" rows="4" id="opml" required></textarea></label>
    <p class="filter"><label>or a file <input type="file" id="opml-file" accept=".opml,.xml"></label>
    <button class="main-button">Import</button></p></form></details>
    """
  }

  private func row(_ subscription: FeedSubscription) -> String {
    let health = subscription.health
    let state = health.lastError ?? (health.polls == 0 ? "not polled yet" : "well")
    let kind = health.lastError != nil ? "ill" : health.polls == 0 ? "waiting" : "well"
    var next = "never"
    if subscription.schedule.nextPoll.isFinite {
      let time = Date(timeIntervalSince1970: subscription.schedule.nextPoll).formatted(.iso8601)
      let shown = time.prefix(16).replacing("T", with: " ")
      next = "<time datetime=\"\(time)\">\(shown)</time>"
    }
    return """
      <tr class="\(kind)"><th scope="row">
      <a href="/?source=\(subscription.id.queryValue)">\(subscription.name.escaped)</a></th>
      <td class="state">\(String(state.prefix(300)).escaped)</td><td class="number">\(health.entries)</td>
      <td class="number figure">\(health.polls)</td><td class="number figure">\(health.unchanged)</td>
      <td class="number figure">\(health.repairs)</td><td class="next">\(next)</td></tr>
      """
  }
}

/// The merged entries as an Atom feed (RFC 4287), with a link to the next page (RFC 5005).
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
