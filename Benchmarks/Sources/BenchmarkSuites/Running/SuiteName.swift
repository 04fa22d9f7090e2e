/// A group of workloads on the same data.
public enum SuiteName: String, Sendable, CaseIterable {
  /// Plain keys and values: Pando's `LMDB` module beside plain C on LMDB.
  case kv
  /// Models and trees: the whole store beside SQLite.
  case model
  /// Durable commits of one writer and of many.
  case commit

  /// Runs the suite.
  func run(_ runner: Runner) throws {
    switch self {
    case .kv: try KeyValueSuite(runner).run()
    case .model: try ModelSuite(runner).run()
    case .commit: try CommitSuite(runner).run()
    }
  }
}
