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
  /// The models that the write was given; `nil` if they don't tell the stored values.
  private let given: WrittenNodes?

  init(_ changeSet: ChangeSet, _ content: WrittenContent) {
    let (updated, inserted) = (changeSet.updated, changeSet.inserted)
    hasUpdated = !updated.isEmpty
    deleted = changeSet.deleted.isEmpty ? [] : Set(changeSet.deleted.map { ByteString($0) })
    var identifiers: [ByteString] = []
    identifiers.reserveCapacity(updated.count + inserted.count + deleted.count)
    for identifier in updated { identifiers.append(ByteString(identifier)) }
    for identifier in inserted { identifiers.append(ByteString(identifier)) }
    identifiers += deleted
    self.identifiers = identifiers
    given = WrittenNodes(identifiers, in: content)
  }

  /// The value of a node as a type: the entity, or `nil` inside for a deleted one.
  ///
  /// - Returns: `nil` if the value has to be read.
  func entity<E: Queryable>(_ identifier: ByteString, as type: E.Type) -> E?? {
    if deleted.contains(identifier) { return .some(nil) }
    guard let entity = given?[identifier] as? E else { return nil }
    return entity
  }
}

extension CommitGroup {
  /// The changed nodes, and those that contain them.
  func touched(in snapshot: ModelSnapshot) -> Set<ByteString> {
    var touched = Set(changed + deleted)
    // An unreadable index shows when the entities themselves are read.
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
    if namespace.text.isEmpty { return true }
    let (bytes, prefix) = (text.utf8, namespace.text.utf8)
    guard bytes.count > prefix.count, bytes.starts(with: prefix) else { return false }
    return bytes[bytes.index(bytes.startIndex, offsetBy: prefix.count)] == UInt8(ascii: ":")
  }
}
