import CPeerLMDB
import CPeerRocksDB
import CPeerSQLite

/// A system that takes part; the raw value is its name on the command line and in the JSON report.
enum System: String, Sendable, CaseIterable {
  /// The module `PandoLMDB` in `kv`, the whole store elsewhere.
  case pando
  /// The same with models that `@Model` declares.
  case pandoModel = "pando-model"
  /// The store with a tree stored as one blob: what normalization costs a reader.
  case pandoBlob = "pando-blob"
  /// LMDB, called from C.
  case lmdb
  /// SQLite through its C API.
  case sqlite
  /// RocksDB through its C API.
  case rocksdb
  /// Foundation's `JSONEncoder` and `JSONDecoder`.
  case json
  /// Foundation's `PropertyListEncoder` and `PropertyListDecoder`, binary.
  case propertyList = "plist"

  /// The name for people.
  var title: String {
    switch self {
    case .pando: "Pando"
    case .pandoModel: "Pando, @Model"
    case .pandoBlob: "Pando, one blob"
    case .lmdb: "C on LMDB"
    case .sqlite: "SQLite"
    case .rocksdb: "RocksDB"
    case .json: "JSON (Foundation)"
    case .propertyList: "plist (Foundation)"
    }
  }

  /// Whether its library was there when the program was built and is there now.
  var isPresent: Bool {
    switch self {
    case .sqlite: peer_sqlite.version() != nil
    case .rocksdb: peer_rocksdb.version() != nil
    case .pando, .pandoModel, .pandoBlob, .lmdb, .json, .propertyList: true
    }
  }

  /// The version of its library, if it has one.
  var version: String? {
    let version: UnsafePointer<CChar>? =
      switch self {
      case .lmdb: peer_lmdb.version()
      case .sqlite: peer_sqlite.version()
      case .rocksdb: peer_rocksdb.version()
      case .pando, .pandoModel, .pandoBlob, .json, .propertyList: nil
      }
    return version.map { String(cString: $0) }
  }
}
