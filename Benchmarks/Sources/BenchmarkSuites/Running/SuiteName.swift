/// A group of workloads on the same data.
public enum SuiteName: String, Sendable, CaseIterable {
  /// Plain keys and values: the module `PandoLMDB` beside plain C.
  case kv
  /// Models and trees: the whole store beside SQLite.
  case model
  /// Deletes and what follows from them.
  case cascade
  /// Ordered lists.
  case collection
  /// Queries over entities, with indexes and without.
  case query
  /// Reads through core managers, beside reads of the store.
  case manager
  /// Commits while queries are followed.
  case continuous
  /// Requests that wait durably for a server.
  case queue
  /// Durable commits of one writer and of many.
  case commit
  /// Updates of live providers.
  case fanout
  /// Commits that other processes see.
  case processes
  #if NATS
    /// Stores of several machines, over three servers of NATS.
    case replication
  #endif
  /// Encoding and decoding, without a disk.
  case coder
  /// The cost of an operation as the store grows.
  case scale
  /// Opening a store, and the first read.
  case open

  /// Runs the suite.
  func run(_ runner: Runner) throws {
    switch self {
    case .kv: try KeyValueSuite(runner).run()
    case .model: try ModelSuite(runner).run()
    case .cascade: try CascadeSuite(runner).run()
    case .collection: try CollectionSuite(runner).run()
    case .query: try QuerySuite(runner).run()
    case .manager: try ManagerSuite(runner).run()
    case .continuous: try FollowedSuite(runner).run()
    case .queue: try QueueSuite(runner).run()
    case .commit: try CommitSuite(runner).run()
    case .fanout: try FanoutSuite(runner).run()
    case .processes: try ProcessSuite(runner).run()
    #if NATS
      case .replication: try ReplicationSuite(runner).run()
    #endif
    case .coder: try CoderSuite(runner).run()
    case .scale: try ScaleSuite(runner).run()
    case .open: try OpenSuite(runner).run()
    }
  }
}
