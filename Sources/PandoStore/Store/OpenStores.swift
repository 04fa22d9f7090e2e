import PandoSystem

/// The open stores of this process, by folder.
///
/// A call on a folder may find its store open: LMDB forbids a second opening. Any thread.
enum OpenStores {
  private static let stores = Locked<[String: WeakReference<ModelStore>]>([:])

  static func add(_ store: ModelStore) {
    guard let folder = store.core.environment.folder else { return }
    stores.withLock { $0[folder] = WeakReference(store) }
  }

  /// Called before the environment is closed: another opening may follow that.
  static func remove(_ folder: String?) {
    if let folder { stores.withLock { $0[folder] = nil } }
  }

  static func store(in folder: String) -> ModelStore? { stores.withLock { $0[folder]?.object } }
}

extension ModelStore {
  /// The open store of a folder in this process; `nil` if there is none.
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
