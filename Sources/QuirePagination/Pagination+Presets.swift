// The constants of Presets/*.json, one for each name in the order of the files.

extension Pagination {
  private static func named(_ name: String) -> Pagination {
    guard let preset = Pagination.Preset.description(named: name) else {
      preconditionFailure("There is no preset \(name).")
    }
    return preset
  }

  // MARK: Any server

  /// A keyset: a list; `id_above` is the last item's id.
  public static let keyset = named("keyset")
  /// Web links: a list, Link header (RFC 8288).
  public static let linkHeader = named("linkHeader")
  /// An offset and a limit: `?offset=40&limit=20`, and a list.
  public static let offsetLimit = named("offsetLimit")
  /// Numbered pages: a list, and a page number that grows until a page is empty.
  public static let pages = named("pages")
  /// Numbered pages with a total: data, page number, meta.total_pages.
  public static let totalPages = named("totalPages")

  // MARK: Formats and standards

  /// ActivityStreams and ActivityPub: orderedItems or items; first, then next.
  public static let activityStreams = named("activityStreams")
  /// arXiv's API: feed/entry, start from 0, totalResults.
  public static let arxiv = named("arxiv")
  /// Atom feeds, OPDS 1 and AtomPub: feed/entry, link rel=next.
  public static let atom = named("atom")
  /// Archived Atom feeds, newest first: feed/entry, link rel=prev-archive.
  public static let atomArchive = named("atomArchive")
  /// Collection+JSON: collection.items, collection.links[rel=next].href.
  public static let collectionJSON = named("collectionJSON")
  /// OGC catalogues, CSW 2.0.2 and 3.0: SearchResults/*, nextRecord.
  public static let csw = named("csw")
  /// UPnP and DLNA, Browse: Result, StartingIndex in a POST of SOAP, NumberReturned.
  public static let dlna = named("dlna")
  /// Google's AIP-158: items at a path that you give, nextPageToken (AIP-158).
  public static let google = named("google")
  /// HAL: _embedded, _links.next.
  public static let hal = named("hal")
  /// Hydra and API Platform: hydra:member or member, hydra:view.hydra:next.
  public static let hydra = named("hydra")
  /// IIIF Change Discovery 1.0: orderedItems, read backwards from last by prev.
  public static let iiifDiscovery = named("iiifDiscovery")
  /// JMAP queries (RFC 8620), the first call of a request: methodResponses[0][1].ids, position.
  public static let jmap = named("jmap")
  /// JSON:API 1.1: data, links.next.
  public static let jsonAPI = named("jsonAPI")
  /// JSON Feed 1.1: items, next_url.
  public static let jsonFeed = named("jsonFeed")
  /// W3C Linked Data Platform paging: items at a path that you give, Link header, Prefer.
  public static let ldp = named("ldp")
  /// OAI-PMH 2.0, for records, identifiers and sets: record, header or set; resumptionToken.
  public static let oaiPMH = named("oaiPMH")
  /// OData and Microsoft Graph: value, @odata.nextLink.
  public static let odata = named("odata")
  /// OData by `$skip` and `$top`, where the server sends no links: value or d.results.
  public static let odataSkip = named("odataSkip")
  /// OGC API Features and Records, and STAC: features, links with rel next, or a request.
  public static let ogcFeatures = named("ogcFeatures")
  /// OpenSearch 1.1: feed/entry, start from 1, totalResults.
  public static let openSearch = named("openSearch")
  /// GraphQL connections (Relay): pageInfo, nodes or edges at a path that you give.
  public static let relay = named("relay")
  /// RSS with links to further pages: channel/item, link rel=next.
  public static let rss = named("rss")
  /// SCIM 2.0 (RFC 7644): Resources, startIndex from 1, totalResults.
  public static let scim = named("scim")
  /// SCIM 2.0 with cursors (RFC 9865): Resources, nextCursor.
  public static let scimCursor = named("scimCursor")
  /// Siren: entities, links[rel=next].href.
  public static let siren = named("siren")
  /// A sitemap, or an index of sitemaps: urlset/url, or a sitemapindex.
  public static let sitemap = named("sitemap")
  /// SRU 1.1 to 2.0: records/record, nextRecordPosition.
  public static let sru = named("sru")
  /// TAXII 2.1: objects, next, more.
  public static let taxii = named("taxii")
  /// WebDAV's sync-collection (RFC 6578): response, sync-token in a REPORT, until no 507 comes.
  public static let webdavSync = named("webdavSync")
  /// OGC features, WFS 2.0: FeatureCollection/member or features, next.
  public static let wfs = named("wfs")
  /// WordPress's feeds by page number: rss/channel/item or feed/entry, paged.
  public static let wordpressFeed = named("wordpressFeed")

  // MARK: Frameworks

  /// Datasette: rows, next_url or next.
  public static let datasette = named("datasette")
  /// Django REST framework, all three styles: results, next, count.
  public static let drf = named("drf")
  /// Laravel's paginators and API resources: data, next_page_url or links.next.
  public static let laravel = named("laravel")
  /// Laravel's cursor paginator: data, next_cursor or meta.next_cursor.
  public static let laravelCursor = named("laravelCursor")
  /// PostgREST and Supabase: a list, Range and Content-Range.
  public static let postgrest = named("postgrest")
  /// Spring Data's pages: content, page from 0, last.
  public static let spring = named("spring")
  /// Django Tastypie: objects, meta.next.
  public static let tastypie = named("tastypie")
  /// WordPress and WooCommerce: a list, page number, X-WP-TotalPages header.
  public static let wordpress = named("wordpress")

  // MARK: Code, issues and packages

  /// Azure DevOps: value, x-ms-continuationtoken header.
  public static let azureDevOps = named("azureDevOps")
  /// Bitbucket Cloud: values, next.
  public static let bitbucket = named("bitbucket")
  /// Bitbucket Server and Data Center: values, nextPageStart, isLastPage.
  public static let bitbucketServer = named("bitbucketServer")
  /// Confluence, v1 and v2: results, the cursor or start in _links.next.
  public static let confluence = named("confluence")
  /// Crates.io: crates, meta.next_page.
  public static let cratesIO = named("cratesIO")
  /// Gerrit: a list, _more_changes or _more_accounts in its last item.
  public static let gerrit = named("gerrit")
  /// GitHub's REST API: a list or items, Link header.
  public static let github = named("github")
  /// GitLab: a list, Link header whose links are followed at the host of the request.
  public static let gitlab = named("gitlab")
  /// GitLab's keyset pagination: a list, Link header, pagination=keyset.
  public static let gitlabKeyset = named("gitlabKeyset")
  /// Jira Cloud's `search/jql`: issues, nextPageToken in a POST body, isLast.
  public static let jira = named("jira")
  /// Jira's older lists: issues or values, startAt, total.
  public static let jiraOffset = named("jiraOffset")
  /// NuGet's registrations: catalogEntry in items, or in the pages they list.
  public static let nuget = named("nuget")
  /// OCI and Docker registries: tags or repositories, relative Link header.
  public static let ociRegistry = named("ociRegistry")
  /// Packagist's search: results, next, total.
  public static let packagist = named("packagist")
  /// PyPI's `changelog_since_serial` (XML-RPC): the last serial in a POST of XML-RPC.
  public static let pypiChangelog = named("pypiChangelog")
  /// Sentry: a list, and a Link header with `results="true"`.
  public static let sentry = named("sentry")
  /// TeamCity: items at a path that you give, nextHref.
  public static let teamCity = named("teamCity")
  /// Travis CI: items at a path that you give, @pagination.next.@href.
  public static let travis = named("travis")

  // MARK: Platforms and clouds

  /// Alchemy's NFT API: items at a path that you give, pageKey.
  public static let alchemy = named("alchemy")
  /// Algorand's indexer: items at a path that you give, next-token.
  public static let algorand = named("algorand")
  /// Anthropic's lists: data, last_id or next_page, has_more.
  public static let anthropic = named("anthropic")
  /// Azure Resource Manager: value, nextLink.
  public static let arm = named("arm")
  /// Amazon's JSON services: items at a path that you give, NextToken or NextMarker in a POST body.
  public static let aws = named("aws")
  /// Amazon's services with forms and XML: items at a path that you give, NextToken or Marker.
  public static let awsQuery = named("awsQuery")
  /// Azure's blobs: Blobs/Blob and BlobPrefix, NextMarker.
  public static let azureBlob = named("azureBlob")
  /// Azure Table storage: value, two continuation headers.
  public static let azureTable = named("azureTable")
  /// Blockscout: items, the parameters in next_page_params.
  public static let blockscout = named("blockscout")
  /// Cloudflare: result, page number, result_info.total_pages.
  public static let cloudflare = named("cloudflare")
  /// Chains of the Cosmos SDK: items at a path that you give, pagination.next_key.
  public static let cosmos = named("cosmos")
  /// Azure Cosmos DB for NoSQL: Documents, x-ms-continuation header.
  public static let cosmosDB = named("cosmosDB")
  /// Datadog's search of logs and events: data, meta.page.after in a POST body.
  public static let datadog = named("datadog")
  /// DigitalOcean: items at a path that you give, links.pages.next.
  public static let digitalOcean = named("digitalOcean")
  /// Amazon DynamoDB, Query and Scan: Items, LastEvaluatedKey in a POST body.
  public static let dynamoDB = named("dynamoDB")
  /// Google Places, the older search: results, next_page_token.
  public static let googlePlaces = named("googlePlaces")
  /// Changes in Google's Calendar, People and Directory: nextPageToken until nextSyncToken.
  public static let googleSync = named("googleSync")
  /// Changes in Microsoft Graph: value, @odata.nextLink until @odata.deltaLink.
  public static let graphDelta = named("graphDelta")
  /// Heroku: a list, Next-Range header.
  public static let heroku = named("heroku")
  /// Hetzner Cloud: items at a path that you give, meta.pagination.next_page.
  public static let hetzner = named("hetzner")
  /// Amazon Kinesis, DescribeStream: StreamDescription.Shards, the last ShardId, HasMoreShards.
  public static let kinesis = named("kinesis")
  /// Kubernetes: items, metadata.continue, metadata.remainingItemCount.
  public static let kubernetes = named("kubernetes")
  /// The lists of the Model Context Protocol: result.tools and others, nextCursor in a POST body.
  public static let mcp = named("mcp")
  /// Amazon MWS and APIs like it: items at a path that you give, NextToken sent to another Action.
  public static let mws = named("mws")
  /// HashiCorp Nomad: a list, X-Nomad-NextToken header.
  public static let nomad = named("nomad")
  /// OpenAI's lists: data, last_id, next_page or the last item's id, has_more.
  public static let openAI = named("openAI")
  /// OpenStack's lists with links: servers, servers_links[rel=next].href.
  public static let openStackLinks = named("openStackLinks")
  /// PagerDuty: items at a path that you give, offset, more.
  public static let pagerDuty = named("pagerDuty")
  /// Route 53's ListResourceRecordSets: ResourceRecordSet, three markers, IsTruncated.
  public static let route53 = named("route53")
  /// S3's ListObjectsV2 and its clones: Contents and CommonPrefixes, NextContinuationToken.
  public static let s3 = named("s3")
  /// S3's ListMultipartUploads: Upload and CommonPrefixes, two markers.
  public static let s3Uploads = named("s3Uploads")
  /// S3's ListObjectVersions: Version, DeleteMarker and CommonPrefixes, two markers.
  public static let s3Versions = named("s3Versions")
  /// S3's first ListObjects: Contents and CommonPrefixes; marker is NextMarker or the last key.
  public static let s3v1 = named("s3v1")
  /// Stellar's Horizon: _embedded.records, _links.next until a page is empty.
  public static let stellar = named("stellar")
  /// OpenStack Swift and other lists by marker: a list; marker is the last name.
  public static let swift = named("swift")
  /// Vercel: items at a path that you give, the time in pagination.next.
  public static let vercel = named("vercel")
  /// Vultr: items at a path that you give, meta.links.next.
  public static let vultr = named("vultr")
  /// WorkOS: data, list_metadata.after.
  public static let workOS = named("workOS")

  // MARK: Databases and search

  /// Algolia's search: hits, page from 0 in a POST body, nbPages.
  public static let algolia = named("algolia")
  /// Algolia's browse: hits, cursor in a POST body.
  public static let algoliaBrowse = named("algoliaBrowse")
  /// ArcGIS queries: features, resultOffset, exceededTransferLimit.
  public static let arcgis = named("arcgis")
  /// BigQuery's `getQueryResults`: rows, pageToken, totalRows, jobComplete.
  public static let bigQuery = named("bigQuery")
  /// CKAN's `package_search`: result.results, start, result.count.
  public static let ckan = named("ckan")
  /// CKAN's `datastore_search`: result.records, offset, result.total.
  public static let ckanDatastore = named("ckanDatastore")
  /// CouchDB's changes, also of npm: results, last_seq, pending.
  public static let couchChanges = named("couchChanges")
  /// CouchDB's and Cloudant's `_find`: docs, bookmark in a POST body.
  public static let couchFind = named("couchFind")
  /// CouchDB's views and `_all_docs`: rows; startkey and startkey_docid of one extra row.
  public static let couchView = named("couchView")
  /// Databricks' SQL statements: result.data_array, result.next_chunk_internal_link.
  public static let databricksSQL = named("databricksSQL")
  /// Elasticsearch by `search_after` in a point in time: hits.hits, the last item's sort.
  public static let elastic = named("elastic")
  /// Elasticsearch and OpenSearch by offset: hits.hits, from and size in a POST body.
  public static let elasticOffset = named("elasticOffset")
  /// Elasticsearch's and OpenSearch's scroll: hits.hits, _scroll_id.
  public static let elasticScroll = named("elasticScroll")
  /// Meilisearch: hits, offset, estimatedTotalHits.
  public static let meilisearch = named("meilisearch")
  /// OpenSearch by `search_after` in a point in time: hits.hits, the last item's sort.
  public static let openSearchPIT = named("openSearchPIT")
  /// Pinecone: items at a path that you give, pagination.next.
  public static let pinecone = named("pinecone")
  /// Qdrant's scroll: result.points, result.next_page_offset in a POST body.
  public static let qdrant = named("qdrant")
  /// Firebase's Realtime Database: an object; startAt is the last name.
  public static let realtimeDB = named("realtimeDB")
  /// Snowflake's SQL API: data, partition from 0, resultSetMetaData.partitionInfo.
  public static let snowflake = named("snowflake")
  /// Socrata (SODA 2): a list, $offset and $limit.
  public static let socrata = named("socrata")
  /// Solr by offset: response.docs, start, response.numFound.
  public static let solrOffset = named("solrOffset")
  /// SPARQL: results.bindings, {{offset}} and {{limit}} in the query.
  public static let sparql = named("sparql")
  /// Trino and Presto: data, nextUri by GET.
  public static let trino = named("trino")
  /// Typesense: hits, page number, found.
  public static let typesense = named("typesense")
  /// Vespa's visits of documents: documents, continuation.
  public static let vespa = named("vespa")

  // MARK: Companies and customers

  /// Airtable: records, offset.
  public static let airtable = named("airtable")
  /// Asana: data, next_page.offset.
  public static let asana = named("asana")
  /// Auth0: items at a path that you give, page from 0, total.
  public static let auth0 = named("auth0")
  /// Auth0's checkpoint pagination: items at a path that you give, next.
  public static let auth0Checkpoint = named("auth0Checkpoint")
  /// Box: entries, next_marker.
  public static let box = named("box")
  /// Calendly: collection, pagination.next_page_token.
  public static let calendly = named("calendly")
  /// Customer.io: items at a path that you give, next, whose "=" is sent unencoded.
  public static let customerIO = named("customerIO")
  /// Dropbox, `list_folder`: entries, cursor, has_more; continues at …/continue.
  public static let dropbox = named("dropbox")
  /// Exchange Web Services, FindItem: RootFolder/Items/*, IndexedPagingOffset in a POST of SOAP.
  public static let ews = named("ews")
  /// Front: _results, the page_token in _pagination.next.
  public static let front = named("front")
  /// Gong: items at a path that you give, records.cursor.
  public static let gong = named("gong")
  /// HubSpot's CRM: results, paging.next.after.
  public static let hubSpot = named("hubSpot")
  /// Intercom: data, pages.next.
  public static let intercom = named("intercom")
  /// LinkedIn: elements, metadata.nextPageToken or paging.links[rel=next].href.
  public static let linkedIn = named("linkedIn")
  /// Mailgun's events: items, paging.next until a page is empty.
  public static let mailgun = named("mailgun")
  /// Marketo: result, nextPageToken, moreResult.
  public static let marketo = named("marketo")
  /// Miro: data, cursor.
  public static let miro = named("miro")
  /// Monday.com: items_page.items, then next_items_page.items; cursor.
  public static let monday = named("monday")
  /// NetSuite, records and SuiteQL: items, links[rel=next].href, hasMore.
  public static let netSuite = named("netSuite")
  /// Notion: results, next_cursor in a POST body, has_more.
  public static let notion = named("notion")
  /// Okta: a list, several Link fields.
  public static let okta = named("okta")
  /// Pipedrive's API v2: data, additional_data.next_cursor.
  public static let pipedrive = named("pipedrive")
  /// Pipedrive's API v1: data, additional_data.pagination.next_start.
  public static let pipedriveV1 = named("pipedriveV1")
  /// QuickBooks Online's queries: QueryResponse.*, {{start}} from 1 and {{size}} in the query.
  public static let quickBooks = named("quickBooks")
  /// Salesforce queries: records, nextRecordsUrl, done.
  public static let salesforce = named("salesforce")
  /// Results of Salesforce's Bulk API 2.0: CSV, Sforce-Locator header.
  public static let salesforceBulk = named("salesforceBulk")
  /// Salesloft, by time of change: data; updated_at[gt] is the last item's updated_at.
  public static let salesloft = named("salesloft")
  /// SendGrid: result or a list, _metadata.next, else offset.
  public static let sendGrid = named("sendGrid")
  /// ServiceNow's tables: result, Link header, X-Total-Count.
  public static let serviceNow = named("serviceNow")
  /// Slack: items at a path that you give, response_metadata.next_cursor.
  public static let slack = named("slack")
  /// Toggl's detailed reports: a list, X-Next-Row-Number and X-Next-ID headers.
  public static let toggl = named("toggl")
  /// Trello's actions: a list, newest first; before is the last id.
  public static let trello = named("trello")
  /// Twilio: items at a path that you give, next_page_uri or meta.next_page_url.
  public static let twilio = named("twilio")
  /// Zendesk: items at a path that you give, links.next, meta.has_more.
  public static let zendesk = named("zendesk")
  /// Zendesk's incremental exports: items at a path that you give, after_url, end_of_stream.
  public static let zendeskIncremental = named("zendeskIncremental")
  /// Zoho CRM: data, info.more_records, info.next_page_token or page number.
  public static let zoho = named("zoho")
  /// Zoom: items at a path that you give, next_page_token.
  public static let zoom = named("zoom")
  /// Zuora's queries: records, queryLocator, done; continues at queryMore.
  public static let zuora = named("zuora")

  // MARK: Shops and payments

  /// Amazon's Selling Partner API: items at a path that you give, NextToken or nextToken.
  public static let amazonSP = named("amazonSP")
  /// BigCommerce: data, meta.pagination.links.next.
  public static let bigCommerce = named("bigCommerce")
  /// BigCommerce's API v2: a list, page number until 204.
  public static let bigCommerceV2 = named("bigCommerceV2")
  /// Chargebee: list, next_offset.
  public static let chargebee = named("chargebee")
  /// Coinbase Exchange: a list, CB-AFTER header.
  public static let coinbase = named("coinbase")
  /// eBay's REST APIs: items at a path that you give, next, total.
  public static let eBay = named("eBay")
  /// eBay's Trading API: items at a path that you give, PageNumber in a POST of XML.
  public static let ebayTrading = named("ebayTrading")
  /// GoCardless: items at a path that you give, meta.cursors.after.
  public static let goCardless = named("goCardless")
  /// Magento: items, total_count, page number.
  public static let magento = named("magento")
  /// Paddle Billing: data, meta.pagination.next, meta.pagination.has_more.
  public static let paddle = named("paddle")
  /// PayPal: items at a path that you give, links[rel=next].href.
  public static let payPal = named("payPal")
  /// Plaid's `/transactions/sync`: added, modified, removed; next_cursor, has_more.
  public static let plaid = named("plaid")
  /// Recurly's API v2: XML, Link header, X-Records.
  public static let recurlyV2 = named("recurlyV2")
  /// Shopify's REST Admin API: items at a path that you give, page_info in a Link.
  public static let shopify = named("shopify")
  /// Square: items at a path that you give, cursor.
  public static let square = named("square")
  /// Stripe: data, has_more; starting_after is the last id.
  public static let stripe = named("stripe")
  /// Walmart's orders: list.elements.order, list.meta.nextCursor.
  public static let walmart = named("walmart")

  // MARK: People and content

  /// Bluesky and the AT Protocol: items at a path that you give, cursor.
  public static let atproto = named("atproto")
  /// Discord's messages: a list, newest first; before is the last id.
  public static let discord = named("discord")
  /// Discourse's lists of topics: topic_list.topics, the page in topic_list.more_topics_url.
  public static let discourse = named("discourse")
  /// Disqus: response, cursor.next, cursor.hasNext.
  public static let disqus = named("disqus")
  /// Eventbrite: items at a path that you give, pagination.continuation or page number.
  public static let eventbrite = named("eventbrite")
  /// Facebook and Instagram: data, paging.next.
  public static let facebook = named("facebook")
  /// Lemmy: items or posts, next_page.
  public static let lemmy = named("lemmy")
  /// Mastodon: a list, Link header with max_id.
  public static let mastodon = named("mastodon")
  /// Matrix: chunk, next_batch or end.
  public static let matrix = named("matrix")
  /// MediaWiki's API: continue, items at a path that you give.
  public static let mediaWiki = named("mediaWiki")
  /// Pexels: photos or videos, next_page.
  public static let pexels = named("pexels")
  /// Pinterest v5: items, bookmark.
  public static let pinterest = named("pinterest")
  /// Prismic: results, the page in next_page.
  public static let prismic = named("prismic")
  /// Reddit: data.children, data.after.
  public static let reddit = named("reddit")
  /// Speedrun.com: data, pagination.links[rel=next].uri.
  public static let speedrun = named("speedrun")
  /// Spotify: items, next, total, below a path that you give.
  public static let spotify = named("spotify")
  /// Stack Exchange: items, page number, has_more.
  public static let stackExchange = named("stackExchange")
  /// Steam's reviews: reviews, cursor.
  public static let steamReviews = named("steamReviews")
  /// Telegram's `getUpdates`: result; offset is the greatest update_id plus 1.
  public static let telegram = named("telegram")
  /// Tumblr: items at a path that you give, the parameters in response._links.next.
  public static let tumblr = named("tumblr")
  /// Twitch Helix: data, pagination.cursor.
  public static let twitch = named("twitch")
  /// X (Twitter) v2: data, meta.next_token.
  public static let twitter = named("twitter")

  // MARK: Science and open data

  /// bioRxiv and medRxiv: collection, offset in the path at {cursor}.
  public static let bioRxiv = named("bioRxiv")
  /// ChEMBL: items at a path that you give, page_meta.next.
  public static let chembl = named("chembl")
  /// ClinicalTrials.gov v2: studies, nextPageToken.
  public static let clinicalTrials = named("clinicalTrials")
  /// NASA's Common Metadata Repository: feed.entry, CMR-Search-After header.
  public static let cmr = named("cmr")
  /// Crossref: message.items, message.next-cursor.
  public static let crossref = named("crossref")
  /// The SEC's EDGAR, a company's submissions: filings.recent by columns, then filings.files.
  public static let edgar = named("edgar")
  /// NCBI's E-utilities, ESearch: esearchresult.idlist, retstart, count; WebEnv carried.
  public static let entrez = named("entrez")
  /// Europe PMC: resultList.result, nextCursorMark.
  public static let europePMC = named("europePMC")
  /// FHIR bundles: entry, link with relation next.
  public static let fhir = named("fhir")
  /// Flickr's lists of photos: photos.photo, page number, photos.pages.
  public static let flickr = named("flickr")
  /// GBIF: results, offset, endOfRecords.
  public static let gbif = named("gbif")
  /// GovInfo: items at a path that you give, the offsetMark in nextPage.
  public static let govInfo = named("govInfo")
  /// The Internet Archive's scrape API: items, cursor, total.
  public static let internetArchive = named("internetArchive")
  /// InvenioRDM, such as Zenodo: hits.hits, links.next.
  public static let invenioRDM = named("invenioRDM")
  /// OData 2 and 3: d.results or feed/entry, __next or link rel=next.
  public static let odataV2 = named("odataV2")
  /// OpenAlex: results, meta.next_cursor.
  public static let openAlex = named("openAlex")
  /// openFDA: results, Link header, meta.results.total.
  public static let openFDA = named("openFDA")
  /// Redmine: issues, offset, total_count.
  public static let redmine = named("redmine")
  /// Semantic Scholar: data, token or next.
  public static let semanticScholar = named("semanticScholar")
  /// Solr's cursors: response.docs, nextCursorMark.
  public static let solr = named("solr")
  /// Splunk's REST API: entry, offset, paging.total or totalResults.
  public static let splunk = named("splunk")
  /// The World Bank's indicators: [meta, items], page number, pages.
  public static let worldBank = named("worldBank")
}
