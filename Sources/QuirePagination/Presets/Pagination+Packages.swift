import QuireCore

/// Registries of packages and images.
extension Pagination {
  /// OCI and Docker registries: `{"name": "app", "tags": […]}`, and a Link header beside it.
  ///
  /// Page size: `n`, a wish. Links are relative; null tags are none. Where a registry sends no links,
  /// the last tag leads on: `next: .lastItem(""), send: .query("last"), end: [.emptyPage]`.
  public static let ociRegistry = Pagination(
    next: .linkHeader, items: .optional(.firstOf(["/tags", "/repositories", "/manifests"])),
    size: PageSize(.query("n")), formats: [.json])

  /// crates.io: `{"crates": […], "meta": {"next_page": "?page=2", "total": 57}}`.
  ///
  /// Page size: `per_page`, 10 by default and 100 at most. The link is a query and replaces ours.
  /// One request in a second is allowed, by a client that names itself in `User-Agent`.
  public static let cratesIO = Pagination(
    next: .body("/meta/next_page"), items: "/crates",
    size: PageSize(.query("per_page"), default: 10, max: 100), total: "/meta/total",
    policy: PagePolicy(pacing: Pacing(interval: 1)), formats: [.json])

  /// Packagist's search: `{"results": […], "total": 57, "next": "…"}`.
  ///
  /// Page size: `per_page`, 15 by default and 100 at most.
  public static let packagist = Pagination(
    next: .body("/next"), items: "/results",
    size: PageSize(.query("per_page"), default: 15, max: 100), total: "/total", formats: [.json])

  /// PyPI's `changelog_since_serial` (XML-RPC): an array of `[name, version, time, action, serial]`.
  ///
  /// For POST, its body with `<param><value><int>0</int></value></param>`, the serial to begin
  /// after. No page size; the end is an empty array.
  public static let pypiChangelog = Pagination(
    next: .lastItem("/array/data/value[5]/*"), send: .xmlBody("//param/value/int"),
    request: RequestRule(isQuery: true), end: [.emptyPage],
    items: "/methodResponse/params/param/value/array/data/value",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/methodResponse/fault"),
        message: "/methodResponse/fault/value/struct/member[name='faultString']/value/string")
    ]), formats: [.xml])

  /// NuGet's registrations: `{"items": [{"@id": "…/page/1.0.0/2.0.0.json"}, …]}`, then pages
  /// `{"items": [{"catalogEntry": {…}}, …]}`, or the pages inside the index.
  ///
  /// Begins with a package's `index.json`. The items are the catalog entries, oldest first. The
  /// `count` of the index is that of its pages. NuGet's search is `nugetSearch` by name.
  public static let nuget = Pagination(
    next: .index("/items", link: "/@id", nested: false),
    items: .optional(.all(["/items/*/items/*/catalogEntry", "/items/*/catalogEntry"])),
    formats: [.json])

  static let packagePresets = [
    PaginationPreset("ociRegistry", "tags or repositories, relative Link header", .ociRegistry),
    PaginationPreset("cratesIO", "crates, meta.next_page", .cratesIO),
    PaginationPreset("packagist", "results, next, total", .packagist),
    PaginationPreset("pypiChangelog", "the last serial in a POST of XML-RPC", .pypiChangelog),
    PaginationPreset("nuget", "catalogEntry in items, or in the pages they list", .nuget),
  ]
}
