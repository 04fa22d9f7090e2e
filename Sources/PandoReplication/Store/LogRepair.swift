import PandoLMDB
import PandoStore

/// Brings a log and a store together that can't follow it any more.
///
/// Nobody has the store open.
enum LogRepair {
  /// Has a log go on from what a store holds.
  ///
  /// A message says that what comes behind it was made from a copy; then the copy follows. A process that ends in
  /// between has done nothing that doing it again would not mend.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log.
  /// - Returns: The position from which the log goes on.
  /// - Throws: ``StoreError`` `replicated` if the store has followed no log; ``LogFault``, `LMDBError`.
  static func republish(_ path: String, _ log: any ReplicationLog) throws -> UInt64 {
    let store = try ModelStore(path: path)
    defer { store.close() }
    let (found, start) = try store.read { (try $0.replicationRow, try $0.replicationStart) }
    guard var row = found else { throw isNoReplica(path) }
    var genesis = Genesis(
      log: row.log, commit: start.commit, nextNode: start.nextNode, nextType: start.nextType)
    genesis.position = try append(genesis, log)
    row.position = genesis.position
    row.chain = EntryChain().appending(LogMessage.genesis(genesis).bytes)
    let copy = try StoreCopy(of: store, in: StoreCopy.outgoing(path))
    defer { copy.remove() }
    try StoreCopy.setRow(row, of: copy.path)
    try copy.reading { try log.putSnapshot(at: row.position, $0) }
    // Last: until then this store is as far as it was, and the same can be done again.
    store.close()
    try StoreCopy.setRow(row, of: path)
    return row.position
  }

  /// Appends a message that says at which position it begins the log again.
  ///
  /// - Returns: The position.
  private static func append(_ genesis: Genesis, _ log: any ReplicationLog) throws -> UInt64 {
    let random = UInt64.random(in: 0...UInt64.max)
    for _ in 0..<attemptCountMaximum {
      var genesis = genesis
      let end = try log.end()
      genesis.position = end + 1
      let message = LogMessage.genesis(genesis).bytes
      // A name of its own for each position: a log tells messages apart by their names.
      let name = "again-\(random)-\(genesis.position)"
      do {
        let position = try log.append(message, named: name, expecting: end)
        if position == genesis.position { return position }
      } catch LogFault.noAnswer {
        // It may be there; of two only the last counts.
      } catch LogFault.endsElsewhere {}
    }
    throw LogFault.unavailable("the log does not take a message")
  }

  /// Makes a store what the newest copy of a log is, whatever it holds.
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - log: The log.
  /// - Returns: The position that the store has then.
  /// - Throws: ``StoreError`` `replicated` if the store has followed no log, `unavailable` if there is no copy;
  ///   ``LogFault``, `LMDBError`.
  static func replace(_ path: String, _ log: any ReplicationLog) throws -> UInt64 {
    let store = try ModelStore(path: path)
    defer { store.close() }
    guard try store.read({ try $0.replicationRow }) != nil else { throw isNoReplica(path) }
    guard let copy = try StoreCopy(from: log, in: StoreCopy.incoming(path)) else {
      throw StoreError(.unavailable, path, "the log has no copy of a store")
    }
    defer { copy.remove() }
    store.close()
    let own = try Environment(path: path)
    defer { own.close() }
    try copy.opened { other in
      let replacement = try RowReplacement(own, other.environment)
      try own.write { try replacement.apply(to: &$0) }
    }
    return copy.row.position
  }

  /// Puts a copy of a store beside a log; others may have the store open.
  ///
  /// - Returns: The position that the copy has.
  static func putSnapshot(_ path: String, _ log: any ReplicationLog) throws -> UInt64 {
    let copy = try copy(path)
    defer { copy.remove() }
    try copy.reading { try log.putSnapshot(at: copy.row.position, $0) }
    return copy.row.position
  }

  /// Makes a copy of a store that is the store of another machine.
  ///
  /// - Returns: The position that the copy has.
  static func copy(_ path: String, to folder: String) throws -> UInt64 {
    let isTaken = StoreError(.replicated, folder, "there is a store already")
    guard !StoreCopy.isThere(folder) else { throw isTaken }
    let copy = try copy(path)
    defer { copy.remove() }
    guard try copy.become(folder) else { throw isTaken }
    return copy.row.position
  }

  private static func copy(_ path: String) throws -> StoreCopy {
    var configuration = ModelStore.Configuration()
    configuration.isReadOnly = true
    let store = try ModelStore(path: path, configuration: configuration)
    defer { store.close() }
    guard try store.read({ try $0.replicationRow }) != nil else { throw isNoReplica(path) }
    return try StoreCopy(of: store, in: StoreCopy.outgoing(path))
  }

  private static func isNoReplica(_ path: String) -> StoreError {
    StoreError(.replicated, path, "the store has followed no log")
  }

  private static let attemptCountMaximum = 16
}
