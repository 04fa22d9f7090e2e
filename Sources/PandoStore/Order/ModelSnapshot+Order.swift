import PandoLMDB
import PandoModels

/// What is known of a node's place in the order of writes; places are those of ``WritePlace``.
package struct OrderState: Equatable {
  /// The place of the last write that counts; 0 if there was none.
  package var place: UInt64 = 0
  /// Whether the node is there.
  package var isStored = false
  /// The commit that changed the node last; 0 if it is not there.
  package var commit: UInt64 = 0
  /// Whether it is what a server answered, unchanged since.
  package var isSynchronized = false

  package init(place: UInt64 = 0) { self.place = place }
}

extension ModelSnapshot {
  /// Returns the place of the last write to a node, removals included.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The place; of a node that never was, or was removed so long ago that nobody remembers
  ///   it, the place up to which removals are forgotten.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  package func orderState(of identifier: String) throws -> OrderState {
    let mark = try reader.orderMark(of: identifier)
    var state = OrderState()
    if let commit = try reader.lastCommit(of: identifier) {
      state.isStored = true
      state.commit = commit
      state.place = WritePlace.of(commit: commit)
      if let mark, mark.kind != .removed, mark.commit == commit {
        state.place = mark.place
        state.isSynchronized = mark.kind == .answered
      }
    } else if let mark, mark.kind == .removed {
      state.place = mark.place
    } else {
      state.place = try reader.removals().forgottenPlace
    }
    return state
  }

  /// Returns the commit that changed a node last, as whatever type; `nil` if there is no such node.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The number of the commit.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  package func lastCommit(of identifier: String) throws -> UInt64? {
    try reader.lastCommit(of: identifier)
  }

  /// Returns the place of a node in the natural order: the server's where it is known, else the order
  /// in which the store first saw the nodes.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Returns: The place, which no other node has; `nil` if there is no such node.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(log *n*).
  package func naturalRank(of identifier: String) throws -> UInt64? {
    guard let node = try reader.node(identifier) else { return nil }
    let key = OrderKey.rank(identifier)
    guard let bytes = try reader.snapshot.bytes(forKey: key.span, in: reader.tables.meta) else {
      return node
    }
    guard let rank = ByteFields.littleEndian(bytes, at: 0, width: 8) else {
      throw StoreError.damaged(identifier, "its place in the natural order is malformed")
    }
    return rank
  }
}

extension StoreReader {
  func orderMark(of identifier: String) throws -> OrderMark? {
    let key = OrderKey.mark(identifier)
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else { return nil }
    return try OrderMark(bytes, identifier: identifier)
  }

  func lastCommit(of identifier: String) throws -> UInt64? {
    guard let node = try node(identifier),
      let newest = try recordKey(node: node, preferring: nil)
    else { return nil }
    return try header(of: newest).commitNumber
  }

  func removals() throws -> OrderSweep {
    let key = OrderKey.removals
    guard let bytes = try snapshot.bytes(forKey: key.span, in: tables.meta) else {
      return OrderSweep()
    }
    return try OrderSweep(bytes)
  }
}
