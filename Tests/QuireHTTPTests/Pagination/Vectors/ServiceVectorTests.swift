import Testing

@Suite("Vectors: services")
struct ServiceVectorTests {
  @Test("V52 T4 T13: Solr's cursor ends when it stays the same, in JSON and in XML")
  func v52() async throws { try await play("V52") }

  @Test("V70 G9: the id of Stripe's last item is the cursor, and more after nothing is an error")
  func v70() async throws { try await play("V70") }

  @Test(
    "V71 T1 T6 T13 T24 H27: Slack ends by an empty cursor only, and fails inside a 200")
  func v71() async throws { try await play("V71") }

  @Test("V72 T18: the first request to Notion has no cursor at all")
  func v72() async throws { try await play("V72") }

  @Test("V73: the last page of HubSpot has no paging")
  func v73() async throws { try await play("V73") }

  @Test("V74 T9: Salesforce pages by relative links, which expire")
  func v74() async throws { try await play("V74") }

  @Test("V75 T3 T4: a Zendesk link beside has_more false is not followed")
  func v75() async throws { try await play("V75") }

  @Test("V76 T21: Jira pages by a token in a body, or by as many items as came")
  func v76() async throws { try await play("V76") }

  @Test("V78 T2: the next start of Bitbucket Server is not the sum")
  func v78() async throws { try await play("V78") }

  @Test("V79 T13: the offset of Airtable is opaque, and expires")
  func v79() async throws { try await play("V79") }

  @Test("V80 T32: next is an object, a link or null with Asana and Intercom")
  func v80() async throws { try await play("V80") }

  @Test("V81 T3: a Mailgun listing ends by an empty page, whose link is no loop")
  func v81() async throws { try await play("V81") }

  @Test("V82: a short page of Discord is the end, and Telegram goes on behind the greatest id")
  func v82() async throws { try await play("V82") }

  @Test("V84 T10: a link that is only a query is merged or resolved, as the service means it")
  func v84() async throws { try await play("V84") }

  @Test("V85 T7 T24 T28: a token of Google Places is asked for again until it is known")
  func v85() async throws { try await play("V85") }

  @Test("V87 T5: Magento ends by its total, or by the last page that comes again")
  func v87() async throws { try await play("V87") }

  @Test("V88: the flag of GBIF that is true on the last page is read that way round")
  func v88() async throws { try await play("V88") }

  @Test("V89 T20: the offset of bioRxiv is a segment of the path, and its total a text")
  func v89() async throws { try await play("V89") }

  @Test("V91 T1 T34: the token inside a Facebook link stays out of everything people read")
  func v91() async throws { try await play("V91") }

  @Test(
    "V92 T4 T18: a listing starts with a star, and the same cursor is its end or no matter")
  func v92() async throws { try await play("V92") }

  @Test(
    "V94: Plaid has three lists, a change expires the cursor, and the last one starts a later walk")
  func v94() async throws { try await play("V94") }

  @Test("V95 T18: monday.com is asked for its other pages by another query")
  func v95() async throws { try await play("V95") }
}
