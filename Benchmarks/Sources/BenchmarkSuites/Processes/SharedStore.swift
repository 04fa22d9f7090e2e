import Pando

/// A store that several processes have open.
enum SharedStore {
  /// Opens it; nothing is flushed.
  static func open(_ path: String, follows: Bool) throws -> ModelStore {
    var configuration = ModelStore.Configuration()
    configuration.mapSizeInBytes = 1 << 30
    configuration.durability = .unsynchronized
    configuration.followsOtherProcesses = follows
    return try ModelStore(path: path, configuration: configuration)
  }

  /// The model that all processes show.
  static func author(_ number: Int) -> LiveAuthor {
    LiveAuthor(identifier: "author:0", number: number)
  }
}
