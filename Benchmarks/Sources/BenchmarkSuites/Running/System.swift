/// A system that takes part; the raw value is its name in the JSON report.
enum System: String, Sendable {
  /// Pando's `LMDB` module, or the whole store with plain `Codable` models and one writer.
  case pando
  /// The whole store with 64 threads that write at the same time.
  case pandoManyWriters = "pando-64-writers"
  /// LMDB, called from C.
  case plainLMDB = "lmdb"
  /// LMDB, called from C, with 64 writes in each transaction.
  case plainLMDBBatches = "lmdb-64-a-commit"
  /// SQLite through its C API.
  case sqlite
  /// SQLite with 64 writes in each transaction.
  case sqliteBatches = "sqlite-64-a-commit"

  /// The name for people.
  var title: String {
    switch self {
    case .pando: "Pando"
    case .pandoManyWriters: "Pando, 64 writers"
    case .plainLMDB: "C on LMDB"
    case .plainLMDBBatches: "C on LMDB, 64 a commit"
    case .sqlite: "SQLite"
    case .sqliteBatches: "SQLite, 64 a commit"
    }
  }
}
