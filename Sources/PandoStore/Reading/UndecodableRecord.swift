public import PandoModels

/// A record that can't be read as its type, and why.
///
/// ```swift
/// for record in try store.undecodable(Person.self) {
///   print(record.identifier, record.error.field ?? "", record.error.reason)
/// }
/// ```
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
    try forEachModel(
      of: type,
      undecodable: { record in
        found.append(record)
        return found.count < limit
      }
    ) { _ in true }
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
    try forEachModel(
      of: type,
      undecodable: { record in
        first = first ?? record
        return true
      }
    ) { _ in
      fits = true
      return false
    }
    return fits ? nil : first
  }
}
