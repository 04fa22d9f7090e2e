import CPeerLMDB
import CPeerRocksDB
import CPeerSQLite
import Pando

/// The systems of the `kv` suite; a new one is a line here.
enum KeyValueSystems {
  /// Address space for each database; profilers can't reserve much more.
  static let mapSizeInBytes = 8 << 30

  static let all: [System] = [.pando, .lmdb, .sqlite, .rocksdb]

  /// Opens or makes a database.
  static func open(
    _ system: System, _ directory: WorkingDirectory, _ durability: Durability
  ) throws -> any KeyValueDatabase {
    switch system {
    case .pando:
      return try PandoDatabase(
        path: directory.path, mapSizeInBytes: mapSizeInBytes, durability)
    case .lmdb: return try peer(system, peer_lmdb, directory, durability)
    case .sqlite: return try peer(system, peer_sqlite, directory, durability)
    case .rocksdb: return try peer(system, peer_rocksdb, directory, durability)
    case .pandoModel, .pandoBlob, .json, .propertyList:
      preconditionFailure("\(system.title) is no key-value system")
    }
  }

  private static func peer(
    _ system: System, _ functions: kv_system, _ directory: WorkingDirectory,
    _ durability: Durability
  ) throws -> any KeyValueDatabase {
    try PeerDatabase(
      system.title, functions, path: directory.path, mapSizeInBytes: mapSizeInBytes,
      durability.peer(of: system))
  }
}
