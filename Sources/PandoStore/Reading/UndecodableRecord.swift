public import PandoModels

/// A record that can't be read as its type, and the reason.
///
/// ```swift
/// for record in try store.undecodable(Person.self) {
///   print(record.identifier, record.error.field ?? "", record.error.reason)
/// }
/// ```
public struct UndecodableRecord: Error, Sendable, CustomStringConvertible {
  /// The identifier of the node.
  public let identifier: String
  /// The error, with node, type and field; if a child is undecodable, those of the child.
  public let error: ModelError

  package init(_ identifier: String, _ error: ModelError) {
    self.identifier = identifier
    self.error = error
  }

  /// One line: the node and the error.
  public var description: String {
    error.identifier == identifier ? "\(error)" : "\(identifier): \(error)"
  }
}

extension ModelSnapshot {
  /// Lists the records of a type that can't be decoded.
  ///
  /// ```swift
  /// for record in try store.read({ try $0.undecodable(Issue.self) }) { log("\(record)") }
  /// ```
  /// - Parameters:
  ///   - type: The type; only nodes with a record of it are read.
  ///   - limit: The most records to return.
  /// - Returns: The records, in the order in which their nodes were first stored.
  /// - Throws: ``StoreError`` if the bytes on disk are damaged.
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

  /// The first record of a type, if none of its records can be decoded.
  ///
  /// - Complexity: O(*n*) for *n* records before the first decodable one.
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
