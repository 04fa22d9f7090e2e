import Synchronization

/// What a load brought in.
public struct LoadReport: Hashable, Sendable, Codable {
  /// Nodes that were stored.
  public internal(set) var nodeCount = 0
  /// Collections that were stored.
  public internal(set) var collectionCount = 0
}

extension ModelStore {
  /// Fills an empty store from the lines of a dump, in one transaction.
  ///
  /// Afterwards the store is equal to the one that was dumped, its commit number included.
  ///
  /// - Parameter nextLine: Returns one line after another, then `nil`. It is called on the writer
  ///   thread while the caller waits.
  /// - Returns: How much was loaded.
  /// - Throws: ``StoreError`` `invalidDump` with the number of the line; then nothing was loaded.
  ///   What `nextLine` throws. ``StoreError`` `engine` when the map had to grow meanwhile or a write
  ///   in the same flush failed: load again from the first line.
  /// - Complexity: O(*n* log *n*); lines are taken one at a time.
  @discardableResult
  public func load(nextLine: @Sendable () throws -> String?) throws -> LoadReport {
    let attempts = Atomic(0)
    return try write { transaction in
      guard attempts.add(1, ordering: .relaxed).oldValue == 0 else {
        throw StoreError(
          .engine, path,
          "the load had to begin again, because the memory map grew or a write beside it failed; "
            + "nothing was loaded, load again from the first line")
      }
      var load = StoreLoad(transaction.work)
      return try load.run(nextLine)
    }
  }
}
