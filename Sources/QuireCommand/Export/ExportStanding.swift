import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuireExport
import QuirePagination

extension ExportForecast {
  /// The state of a destination, and what an export would do with it.
  struct Standing: Sendable, Encodable {
    enum Plan: String, Sendable, Encodable {
      case begin, beginAnew, goOn, beginNextRun, nothing, refuse
    }

    /// The path or server, and the table.
    var name: String
    var plan: Plan
    /// Why nothing would be done, or why the export would be refused.
    var reason: String?
    /// The committed pages and items of the run.
    var pages = 0
    var items = 0

    /// Whether a plan opens the destination at `path`. A plan creates nothing, so a missing file is
    /// opened only if it could not be created, to be refused.
    static func isToBeOpened(_ path: String) -> Bool {
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      return path.contains("://")
        || [path, "\(path).checkpoint"].contains(where: FileManager.default.fileExists)
        || access(folder, W_OK) != 0
    }
  }
}

extension ExportPlan {
  /// Returns what the destination holds, and what an export would do with it.
  func standing(
    _ cursor: Cursor<RawItem>
  ) async throws -> (ExportForecast.Standing?, Export.Prospect?) {
    guard let sink = files.sink, let path = files.items, files.point == nil else {
      return (nil, nil)
    }
    var standing = ExportForecast.Standing(
      name: DestinationRequest.shown(path, table: files.table), plan: .begin)
    guard ExportForecast.Standing.isToBeOpened(path) else { return (standing, nil) }
    var export = Export(cursor.limited(to: limits).resuming(from: start), to: sink)
    export.restarts = restarts
    do {
      let prospect = try await export.prospect()
      (standing.pages, standing.items) = (prospect.found?.pages ?? 0, prospect.found?.items ?? 0)
      switch prospect.end {
      case .limit(let limit)?:
        (standing.plan, standing.reason) = (.nothing, "--max-\(limit.rawValue)")
      case .some: (standing.plan, standing.reason) = (.nothing, "complete")
      case nil where prospect.isResumed: standing.plan = .goOn
      case nil where prospect.found != nil: standing.plan = .beginNextRun
      case nil: standing.plan = restarts ? .beginAnew : .begin
      }
      return (standing, prospect)
    } catch {
      standing.plan = .refuse
      do {
        try refuse(error)
        standing.reason = "\(error)"
      } catch {
        standing.reason = (error as? ValidationError)?.message ?? "\(error)"
      }
      return (standing, nil)
    }
  }
}

extension ExportForecast.Standing {
  var words: String {
    let held = "\(pages.counted("page")), \(items.counted("item"))"
    return switch plan {
    case .begin: "nothing of this listing is there: an export begins"
    case .beginAnew: "an export begins anew, and its first commit takes away what is there"
    case .goOn: "an export goes on behind what is committed, \(held)"
    case .beginNextRun: "a complete export is there, \(held): another run of it begins"
    case .refuse: "an export would be refused: \(reason ?? "")"
    case .nothing where reason == "complete":
      "the whole export is there, \(held): nothing would be requested"
    case .nothing:
      "\(held) are there, which is all that \(reason ?? "a limit") allows: nothing would be requested"
    }
  }
}
