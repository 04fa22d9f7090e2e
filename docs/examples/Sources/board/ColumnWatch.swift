import MicroHTTP
import Pando

/// A request that waits for a change of a column.
struct ColumnWatch {
  /// How long it waits; a client that asks again with the tag of the answer misses nothing.
  static let patience = Duration.seconds(25)

  private let column: Column
  private let provider: CollectionDataProvider<IssueCard>

  /// Makes a watch.
  ///
  /// - Parameters:
  ///   - column: The column.
  ///   - manager: Shows what is committed, by this process and by others.
  init(_ column: Column, _ manager: DataModelManager) {
    self.column = column
    provider = CollectionDataProvider(dataModelManager: manager)
  }

  /// Waits until the column shows something else, until ``patience`` is at its end, or the service ends.
  ///
  /// - Parameter seen: The tag of what the client has; `nil` if it has nothing.
  /// - Returns: The content of the column.
  /// - Throws: `DataProviderError` when the service has ended.
  func next(after seen: String?) async throws -> WatchedColumn {
    let present = try await provider.fetchDataFromCache(withCacheKey: column.cacheKey) ?? []
    return try await withThrowingTaskGroup(of: WatchedColumn?.self) { group in
      group.addTask { [column, provider] in
        for try await cards in provider.values {
          let shown = WatchedColumn(column, cards)
          if shown.tag != seen { return shown }
        }
        return nil
      }
      group.addTask {
        try? await Task.sleep(for: Self.patience)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next().flatMap(\.self) ?? WatchedColumn(column, present)
    }
  }
}

/// The content of a column, and a tag that another content has not.
struct WatchedColumn: Codable, Sendable {
  let tag: String
  let column: ColumnContent

  init(_ column: Column, _ cards: [IssueCard]) {
    self.column = ColumnContent(column, cards)
    tag = HTTPResponse(self.column).tag
  }
}
