import Foundation

/// A directory for a store that several processes use one after another.
struct TemporaryStoreDirectory {
  let path: String

  init() throws {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("pando-queue-\(UUID().uuidString)").path
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
