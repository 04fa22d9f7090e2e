public import PandoStore

extension StoreEvent {
  /// The name of the kind of event, for metrics and logs.
  public var name: String {
    switch self {
    case .slowCommit: "slow_commit"
    case .mapGrown: "map_grown"
    case .staleReadersCleared: "stale_readers_cleared"
    case .failedWrite: "failed_write"
    case .conflictingContent: "conflicting_content"
    case .fieldKept: "field_kept"
    case .unknownType: "unknown_type"
    case .missingIndexes: "missing_indexes"
    case .childrenDisagree: "children_disagree"
    case .reloaded: "reloaded"
    case .watchesByPolling: "watches_by_polling"
    case .newerSchema: "newer_schema"
    case .waitsForMigration: "waits_for_migration"
    case .replicaStopped: "replica_stopped"
    case .replicaReplaced: "replica_replaced"
    case .replicaDisconnected: "replica_disconnected"
    case .replicaReconnected: "replica_reconnected"
    case .weakLog: "weak_log"
    }
  }

  /// One line for a log: what has happened, with its figures.
  ///
  /// ```swift
  /// configuration.events = { logger.notice("\($0.logLine)") }
  /// ```
  public var logLine: String {
    switch self {
    case .slowCommit(let duration, let writeCount):
      "a commit of \(writeCount) writes took \(duration)"
    case .mapGrown(let size): "the memory map has grown to \(size) bytes"
    case .staleReadersCleared(let count): "\(count) reader slots of dead processes were freed"
    case .failedWrite(let error): "a write has failed: \(error)"
    case .conflictingContent(let identifier, let typeName):
      "a tree held \(identifier) twice with different content, as \(typeName)"
    case .fieldKept(let identifier, let typeName, let field):
      "\(field) of \(identifier) kept its value, as \(typeName) can't decode the new one"
    case .unknownType(let typeName):
      "records of \(typeName), which no call of this process has named, were written"
    case .missingIndexes(let typeName, let fields):
      "\(typeName) was written, and the store lacks its indexes of \(fields.joined(separator: "; "))"
    case .childrenDisagree(let identifier, let typeName):
      "forEach of \(typeName) names other children of \(identifier) than its coding"
    case .reloaded(let commitCount):
      "all live data was read again, \(commitCount) commits behind"
    case .watchesByPolling(let reason):
      "the store polls for commits of other processes every 10 ms: \(reason)"
    case .newerSchema(let typeName, let storedVersion, let programVersion):
      "\(typeName) was written by schema version \(programVersion), and the store has version "
        + "\(storedVersion)"
    case .waitsForMigration: "a write waits for another process that migrates the store"
    case .replicaStopped(let error): "the replica has stopped, and can still be read: \(error)"
    case .replicaReplaced(let position):
      "the replica was replaced by the newest copy in the log, at position \(position)"
    case .replicaDisconnected(let error): "the replica can't apply the log: \(error)"
    case .replicaReconnected: "the replica applies the log again"
    case .weakLog(let reason): "the log gives fewer guarantees than possible: \(reason)"
    }
  }
}
