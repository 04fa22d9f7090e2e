import Pando
import PandoMetrics

/// Copies.
extension Shop {
  /// Copies the store, and checks each record of the copy.
  ///
  /// Readers and writers continue. No thread of the caller waits.
  ///
  /// - Parameter folder: A folder that does not exist.
  /// - Throws: ``ShopError`` `damagedCopy` if the check finds a problem; `LMDBError` if the copy
  ///   can't be written.
  func backUp(to folder: String) async throws {
    try await store.copy(to: folder, compacting: true)
    let report = try await ModelStore.verify(path: folder)
    if let problem = report.problems.first { throw ShopError(.damagedCopy, "\(problem)") }
  }
}
