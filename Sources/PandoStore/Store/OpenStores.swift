import PandoSystem

/// The stores that are open in this process, by their folders.
///
/// A call that works on a folder may find its store open: LMDB forbids a second opening. Any thread.
enum OpenStores {
  private struct Reference {
    weak var store: ModelStore?
  }

  private static let stores = Locked<[String: Reference]>([:])

  static func add(_ store: ModelStore) {
    let folder = store.folder
    stores.withLock { $0[folder] = Reference(store: store) }
  }

  /// Before its environment is closed: another opening comes behind that.
  static func remove(_ folder: String) { stores.withLock { $0[folder] = nil } }

  static func store(in folder: String) -> ModelStore? { stores.withLock { $0[folder]?.store } }
}

extension ModelStore {
  /// The store of a folder that is open in this process; `nil` if none is.
  ///
  /// - Parameter path: The folder, by any of its names.
  /// - Returns: The store.
  package static func opened(at path: String) -> ModelStore? {
    // The text lives until it is freed.
    guard let resolved = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(resolved) }
    return unsafe OpenStores.store(in: String(cString: resolved))
  }
}
