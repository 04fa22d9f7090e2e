import PandoLMDB
import PandoModels

extension ModelTransaction {
  /// Has removals of nodes remembered from now on, whoever removes them.
  ///
  /// - Parameter namespace: What their identifiers begin with, up to a colon.
  /// - Throws: `LMDBError` when the disk refuses.
  package mutating func keepOrder(ofNamespace namespace: String) throws {
    try work.whole { try work.keepOrder(ofNamespace: namespace) }
  }

  /// The place of this write in the order of writes, which is that of its commit.
  ///
  /// It is a commit from now on, even if it changes nothing that anybody can see.
  ///
  /// - Returns: The place, as in ``WritePlace``.
  package mutating func takePlace() -> UInt64 {
    work.state.takesCommitNumber = true
    return WritePlace.of(commit: work.nextCommitNumber)
  }

  /// Tells that a node has changed, whose own data is as it was.
  ///
  /// - Parameter identifier: The identifier of the node.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  package mutating func touch(_ identifier: String) throws {
    guard let node = try work.reading({ try $0.node(identifier) }) else { return }
    work.state.changes.update(node, identifier)
  }

  /// Gives the last write to a node another place in the order than its commit number.
  ///
  /// - Parameters:
  ///   - mark: The place.
  ///   - identifier: The identifier of the node.
  /// - Throws: `LMDBError` when the disk refuses.
  package mutating func setOrderMark(_ mark: OrderMark, of identifier: String) throws {
    try work.whole {
      if mark.kind == .removed {
        work.state.placedRemovals.insert(ByteString(identifier))
        try work.rememberRemoval(of: identifier, place: mark.place)
      } else {
        try work.putMark(mark, of: identifier)
      }
    }
  }

  /// Puts a node elsewhere in the natural order.
  ///
  /// - Parameters:
  ///   - rank: A place that no other node has.
  ///   - identifier: The identifier of the node.
  /// - Throws: `LMDBError` when the disk refuses.
  package mutating func setNaturalRank(_ rank: UInt64, of identifier: String) throws {
    try work.whole {
      let value = LittleEndianValue(rank)
      try work.put(
        value.bytes.span, forKey: OrderKey.rank(identifier).span, in: work.tables.meta)
    }
  }
}
