public import PandoModels

/// A record that can't be read as its type, and why.
public struct UndecodableRecord: Error, Sendable, CustomStringConvertible {
  /// The identifier of the node that was to be read.
  public let identifier: String
  /// What is wrong: it names the node, the type and the field; where a child can't be read, those of the child.
  public let error: ModelError

  package init(_ identifier: String, _ error: ModelError) {
    self.identifier = identifier
    self.error = error
  }

  /// One line: which node, and what is wrong.
  public var description: String {
    error.identifier == identifier ? "\(error)" : "\(identifier): \(error)"
  }
}

extension ModelSnapshot {
  /// Lists the records of a type that can't be read as it.
  ///
  /// ```swift
  /// for record in try store.read({ try $0.undecodable(Issue.self) }) { log("\(record)") }
  /// ```
  /// - Parameters:
  ///   - type: The type, by whose own records the nodes are found.
  ///   - limit: How many at most.
  /// - Returns: The records, in the order in which the store first saw their nodes.
  /// - Throws: ``StoreError`` when the bytes on disk are damaged.
  /// - Complexity: O(*n*) for *n* records of the type, all of which are decoded.
  public func undecodable<M: SimpleModel & Decodable>(
    _ type: M.Type, limit: Int = .max
  ) throws -> [UndecodableRecord] {
    var found: [UndecodableRecord] = []
    if limit <= 0 { return found }
    try forEachRecord(of: type) { record in
      if let record { found.append(record) }
      return found.count < limit
    }
    return found
  }

  /// Why nothing of a type can be read: its first record, if none of them fits the type.
  ///
  /// - Complexity: O(*n*) for *n* records before the first that fits.
  package func incompatibility<M: SimpleModel & Decodable>(
    of type: M.Type
  ) throws -> UndecodableRecord? {
    var first: UndecodableRecord?
    var fits = false
    try forEachRecord(of: type) { record in
      first = first ?? record
      fits = record == nil
      return !fits
    }
    return fits ? nil : first
  }

  /// Decodes the records of a type one by one.
  ///
  /// `body` gets `nil` for one that fits, and returns false to stop.
  private func forEachRecord<M: SimpleModel & Decodable>(
    of type: M.Type, _ body: (UndecodableRecord?) throws -> Bool
  ) throws {
    let name = try reader.directory.name(of: type)
    guard let number = try reader.directory.number(ofTypeNamed: name, in: reader) else { return }
    var source = SnapshotSource.begin(reader)
    defer { SnapshotSource.end(&source) }
    try reader.forEachNode(ofType: number) { node in
      do {
        _ = try source.model(node, as: type)
        return try body(nil)
      } catch let error as ModelError {
        let identifier = try reader.identifier(of: node)
        let named = error.about(identifier: identifier, typeName: name)
        return try body(UndecodableRecord(identifier, named))
      }
    }
  }
}

extension ModelStore {
  /// Lists the records of a type that can't be read as it.
  ///
  /// - Parameters:
  ///   - type: The type, by whose own records the nodes are found.
  ///   - limit: How many at most.
  /// - Returns: The records, in the order in which the store first saw their nodes.
  /// - Throws: ``StoreError`` or `LMDBError` when the store can't be read.
  /// - Complexity: O(*n*) for *n* records of the type, all of which are decoded.
  public func undecodable<M: SimpleModel & Decodable>(
    _ type: M.Type, limit: Int = .max
  ) throws -> [UndecodableRecord] { try read { try $0.undecodable(type, limit: limit) } }
}
