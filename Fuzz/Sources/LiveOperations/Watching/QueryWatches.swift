import Pando

/// Followed queries over the items of a container, and what their changes lead to.
final class QueryWatches: Sendable {
  /// Made anew each time: of a constant the leak sanitizer can't follow all pointers.
  private static var queries: [(name: String, query: Query<Models.Item>)] {
    [
      ("all", .all),
      ("of a year", Query(filter: \.year == 1)),
      ("without year", Query(filter: \.year == nil)),
      ("by title", Query(order: [.descending(\.title)])),
      ("first by title", Query(order: [.ascending(\.title)], limit: 3)),
      (
        "by year from 1",
        Query(order: [.descending(\.year), .ascending(\.title)], offset: 1, limit: 2)
      ),
      ("one a year", Query(order: [.ascending(\.title)], uniqueBy: [.field(\.year)])),
      ("by name", Query(ids: [.remote(3), .remote(1), .remote(40)])),
    ]
  }

  let manager: CoreManager<Models.Item>
  private let ledger: Ledger
  private let watches: [SequenceWatch<[Models.Item]>]
  private let tasks: [Task<Void, Never>]

  init(_ manager: CoreManager<Models.Item>, _ ledger: Ledger) {
    self.manager = manager
    self.ledger = ledger
    var watches: [SequenceWatch<[Models.Item]>] = []
    var tasks: [Task<Void, Never>] = []
    for (index, (name, query)) in Self.queries.enumerated() {
      let followed = manager.follow(query)
      let watch = SequenceWatch<[Models.Item]>("followed query \(name)", ledger)
      watches.append(watch)
      if index.isMultiple(of: 2) {
        tasks.append(watch.follow(followed) { $0.entities })
      } else {
        let changes = QueryChanges("query \(name)", ledger)
        tasks.append(watch.follow(followed.changes) { changes.follow($0) })
      }
    }
    self.watches = watches
    self.tasks = tasks
  }

  /// At rest each query shows what a search finds.
  func check() async throws {
    for (watch, (_, query)) in zip(watches, Self.queries) {
      await watch.wait(until: try await manager.search(withQuery: query).entities)
    }
  }

  func end() async {
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
