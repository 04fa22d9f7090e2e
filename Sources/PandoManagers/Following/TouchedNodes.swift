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
  /// Whether a node may contain other nodes.
  let mayHoldNodes: Bool
  /// The model of the only touched node, if the write was given one node.
  private let only: (any SimpleModel)?
  /// The models of any other write; `nil` if they do not determine the stored values.
  private let given: WrittenNodes?

  init(_ write: CommitEffects) {
    hasUpdated = write.hasUpdated
    deleted = write.deleted.isEmpty ? [] : Set(write.deleted)
    identifiers = write.nodes
    only = write.only
    mayHoldNodes = only == nil && !write.content.areSingleNodes
    given = only == nil ? WrittenNodes(identifiers, in: write.content) : nil
  }

  /// The value of a node as a type: the entity, or `nil` inside for a deleted one.
  ///
  /// - Returns: `nil` if the value has to be read.
  @inline(__always)
  func entity<E: Queryable>(_ identifier: ByteString, as type: E.Type) -> E?? {
    if deleted.contains(identifier) { return .some(nil) }
    guard let entity = (only ?? given?[identifier]) as? E else { return nil }
    return entity
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
