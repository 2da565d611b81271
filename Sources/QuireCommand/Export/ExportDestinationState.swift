import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuireExport
import QuirePagination

extension ExportForecast {
  /// The state of a destination, and what an export would do with it.
  struct DestinationState: Sendable, Encodable {
    enum Plan: String, Sendable, Encodable {
      case begin, beginAnew, goOn, beginNextRun, nothing, refuse
    }

    /// The path or server, and the table.
    var name: String
    var plan: Plan
    /// Why nothing would be done: `complete`, or the option whose limit was reached; or why the export
    /// would be refused.
    var reason: String?
    /// The committed pages and items of the run.
    var pages = 0
    var items = 0

    /// Whether a plan opens the destination at `path`. A plan creates nothing, so a missing file is
    /// opened only if it could not be created, to be refused.
    static func isToBeOpened(_ path: String) -> Bool {
      if path.contains("://") { return true }
      // The checkpoint is beside the file that links lead to.
      let target = FileSink.resolved(path)
      let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
      return [path, "\(target).checkpoint"].contains(where: FileManager.default.fileExists)
        || access(folder, W_OK) != 0
    }
  }
}

extension ExportPlan {
  /// Returns what the destination holds, and what an export would do with it.
  func destinationState(
    _ cursor: Cursor<RawItem>
  ) async throws -> (ExportForecast.DestinationState?, Export.Prospect?) {
    guard let sink = files.sink, let path = files.items, files.point == nil else {
      return (nil, nil)
    }
    var state = ExportForecast.DestinationState(
      name: DestinationRequest.shown(path, table: files.table), plan: .begin)
    guard ExportForecast.DestinationState.isToBeOpened(path) else { return (state, nil) }
    var export = Export(cursor.limited(to: limits).resuming(from: start), to: sink)
    export.restarts = restarts
    do {
      let prospect = try await export.prospect()
      (state.pages, state.items) = (prospect.found?.pages ?? 0, prospect.found?.items ?? 0)
      switch prospect.end {
      case .limit(let limit)?:
        (state.plan, state.reason) = (.nothing, "--max-\(limit.rawValue)")
      case .some: (state.plan, state.reason) = (.nothing, "complete")
      case nil where prospect.isResumed: state.plan = .goOn
      case nil where prospect.found != nil: state.plan = .beginNextRun
      case nil: state.plan = restarts ? .beginAnew : .begin
      }
      return (state, prospect)
    } catch {
      state.plan = .refuse
      do {
        try refuse(error)
        state.reason = "\(error)"
      } catch {
        state.reason = (error as? ValidationError)?.message ?? "\(error)"
      }
      return (state, nil)
    }
  }
}

extension ExportForecast.DestinationState {
  var words: String {
    let held = "\(pages.counted("page")), \(items.counted("item"))"
    return switch plan {
    case .begin: "nothing of this listing is there: an export begins"
    case .beginAnew: "an export begins anew, and its first commit takes away what is there"
    case .goOn: "an export goes on behind what is committed, \(held)"
    case .beginNextRun: "a complete export is there, \(held): another run of it begins"
    case .refuse: "an export would be refused: \(reason ?? "")"
    case .nothing:
      if reason == "complete" {
        "the whole export is there, \(held): nothing would be requested"
      } else {
        "\(held) are there, which is all that \(reason ?? "a limit") allows: nothing would be requested"
      }
    }
  }
}
