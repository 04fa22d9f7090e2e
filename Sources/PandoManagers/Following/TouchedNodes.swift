import PandoModels
import PandoProviders
import PandoStore

/// The touched nodes of a write, and the models that it was given for them.
struct TouchedNodes {
  /// Inserted, updated and deleted nodes.
  let identifiers: [ByteString]
  let deleted: Set<ByteString>
  /// Whether a node existed before.
  let hasUpdated: Bool
  /// The number of the last commit after the write.
  private let commit: UInt64
  /// Whether a node may contain other nodes.
  let mayHoldNodes: Bool
  /// The model of the only touched node, if the write was given one node.
  private let only: (any SimpleModel)?
  /// The models of any other write; `nil` if they do not determine the stored values.
  private let given: WrittenNodes?

  init(_ write: CommitEffects) {
    hasUpdated = write.hasUpdated
    commit = write.commitValue
    deleted = write.deleted.isEmpty ? [] : Set(write.deleted)
    identifiers = write.nodes
    only = write.only
    mayHoldNodes = only == nil && !write.content.areSingleNodes
    given = only == nil ? WrittenNodes(identifiers, in: write.content) : nil
  }

  /// The value of a touched node as a type: the entity, or `nil` inside for a deleted one.
  ///
  /// - Returns: `nil` if the value has to be read.
  @inline(__always)
  func entity<E: Queryable>(_ identifier: ByteString, as type: E.Type) -> E?? {
    if deleted.contains(identifier) { return .some(nil) }
    guard let entity = (only ?? given?[identifier]) as? E else { return nil }
    return entity
  }

  /// Reads an entity that the write has not touched, as it is after the write.
  ///
  /// - Returns: The entity, or `nil` inside if there is none; `nil` if it can't be read, or no more in that version.
  func untouched<E: Queryable>(
    _ identifier: ByteString, as type: E.Type, in store: ModelStore
  ) -> RankedEntity<E>?? {
    do {
      return try store.read { snapshot -> RankedEntity<E>?? in
        guard try snapshot.commitValue == commit else { return nil }
        return .some(try snapshot.ranked(identifier, as: type))
      }
    } catch {
      return nil
    }
  }
}

/// A change of entities outside the store whose snapshots a graph reads.
enum WatchedChange: Sendable {
  /// These nodes have changed, or contain nodes that have changed.
  case nodes(Set<ByteString>)
  /// Unknown nodes have changed: the change log does not reach back, or a copy has replaced the data.
  case unknown(Unknown)

  /// A change of unknown nodes.
  struct Unknown: Sendable {
    /// The namespace of the watched entities.
    let namespace: ByteString
    /// The store that has changed.
    let store: ModelStore
    /// The number of the last commit before the change; `nil` if a copy has replaced the data.
    let former: UInt64?

    /// Selects the present nodes that may have changed.
    ///
    /// Commit numbers from before and after a copy do not compare, so after a copy all present nodes are selected.
    ///
    /// - Parameter nodes: The nodes to select from.
    /// - Returns: The nodes of the namespace that the store has with a later commit.
    /// - Throws: `StoreError` if the store is closed or the bytes on disk are damaged.
    /// - Complexity: O(*n* log *m*) for *n* given nodes and *m* nodes of the store.
    func changed(among nodes: Set<ByteString>) throws -> Set<ByteString> {
      let watched = nodes.filter { $0.isIdentifier(of: namespace) }
      if watched.isEmpty { return [] }
      return try store.read { snapshot in
        try watched.filter { node in
          guard let commit = try snapshot.commitValue(of: node.text) else { return false }
          return former.map { commit > $0 } ?? true
        }
      }
    }
  }
}

extension CommitGroup {
  /// The changed nodes, and those that contain them.
  func touched(in snapshot: ModelSnapshot) -> Set<ByteString> {
    var touched = Set(changed + deleted)
    // If the index can't be read, the read of the entities fails too, and reports it.
    for node in updated {
      touched.formUnion(((try? snapshot.ancestors(of: node.text)) ?? []).map { ByteString($0) })
    }
    return touched
  }
}

extension ByteString {
  /// The prefixes of an identifier before its colons, and the empty namespace, which has all identifiers.
  var namespaces: [ByteString] {
    let bytes = text.utf8
    return [ByteString("")]
      + bytes.indices.filter { bytes[$0] == UInt8(ascii: ":") }
      .map { ByteString(String(text[..<$0])) }
  }

  /// Whether it is an identifier in a namespace, as `Person:12` in `Person`.
  ///
  /// The empty namespace has all identifiers.
  func isIdentifier(of namespace: ByteString) -> Bool {
    namespace.text.isEmpty || text.hasBytes(of: namespace.text, before: UInt8(ascii: ":"))
  }
}
