import FoundationEssentials
import PandoManagers
import PandoModels
import PandoStore

extension IdentifierAlias {
  /// Replaces local identifiers by the server's, where the server has assigned one.
  static func apply(
    to entry: inout QueuedRequest, in rows: QueueRows
  ) throws {
    for identifier in entry.marks + (entry.related ?? []) {
      guard let alias = try read(identifier, in: rows) else { continue }
      alias.apply(to: &entry)
    }
  }

  static func read(
    _ modelIdentifier: String, in rows: QueueRows
  ) throws -> IdentifierAlias? {
    guard let bytes = try rows.value(QueueNames.alias(modelIdentifier)) else { return nil }
    return try read(bytes, of: modelIdentifier)
  }

  /// Returns the aliases of entities that are named by a text, in any namespace.
  ///
  /// - Parameters:
  ///   - texts: Each is `local:` and a key.
  ///   - rows: The rows of the queue.
  /// - Returns: The aliases that exist.
  /// - Throws: Errors of the disk.
  /// - Complexity: O(*n*) for *n* aliases in the store; O(1) without texts.
  static func all(
    of texts: Set<ByteString>, in rows: QueueRows
  ) throws -> [IdentifierAlias] {
    var found: [IdentifierAlias] = []
    if texts.isEmpty { return found }
    try rows.forEachValue(QueueNames.alias("")) { _, bytes in
      let alias = try QueueTable.decode(bytes, as: IdentifierAlias.self)
      if texts.contains(ByteString(localText(of: alias.old))) { found.append(alias) }
      return true
    }
    return found
  }

  /// Replaces the local identifier by the server's.
  func apply(to entry: inout QueuedRequest) {
    entry.request.replace(self)
    for index in entry.subjects.indices where entry.subjects[index].hasSameBytes(as: old) {
      entry.subjects[index] = new
    }
    entry.related = entry.related?.map { $0.hasSameBytes(as: old) ? new : $0 }
    entry.inside = entry.inside?.map { $0.hasSameBytes(as: old) ? new : $0 }
    entry.makes.removeAll { $0.hasSameBytes(as: old) }
  }
}

extension APIRequest {
  /// Replaces a local identifier by the server's, where it is a whole value: a segment of the path, a value of the
  /// query or an element of one, a header field, a text or a name in a JSON content.
  mutating func replace(_ alias: IdentifierAlias) {
    guard localIdentifiers.contains(where: { $0.hasSameBytes(as: alias.old) }) else { return }
    let local = IdentifierAlias.localText(of: alias.old)
    let escaped = APIPath.escaping(local)
    path.text = path.text.split(separator: "/", omittingEmptySubsequences: false)
      .map { $0.utf8.elementsEqual(escaped.utf8) ? APIPath.escaping(alias.text) : String($0) }
      .joined(separator: "/")
    for index in query.indices {
      query[index].value = query[index].value
        .split(separator: ",", omittingEmptySubsequences: false)
        .map { $0.utf8.elementsEqual(local.utf8) ? alias.text : String($0) }
        .joined(separator: ",")
    }
    headers.mapValues { $0.hasSameBytes(as: local) ? alias.text : $0 }
    path.localIdentifiers.removeAll { $0.hasSameBytes(as: alias.old) }
    body?.replace(alias, local: local)
  }
}

extension APIBody {
  /// Replaces a local identifier by the server's, where it is a whole text or name.
  mutating func replace(_ alias: IdentifierAlias, local: String) {
    guard localIdentifiers.contains(where: { $0.hasSameBytes(as: alias.old) }) else { return }
    localIdentifiers.removeAll { $0.hasSameBytes(as: alias.old) }
    // Both were encoded as JSON.
    guard let json = try? TreeValue(json: String(decoding: bytes, as: UTF8.self)),
      let new = try? TreeValue(json: alias.json)
    else { return }
    bytes = Data(json.replacing(local, with: new, name: alias.text).json().utf8)
  }
}

extension TreeValue {
  /// Returns this JSON with a text replaced, where it is a whole value or name.
  func replacing(_ text: String, with value: TreeValue, name: String) -> TreeValue {
    switch self {
    case .string(let string) where string.hasSameBytes(as: text): return value
    case .array(let elements):
      return .array(elements.map { $0.replacing(text, with: value, name: name) })
    case .object(let fields):
      var replaced: [String: TreeValue] = [:]
      for (key, field) in fields {
        let key = key.hasSameBytes(as: text) ? name : key
        replaced[key] = field.replacing(text, with: value, name: name)
      }
      return .object(replaced)
    default: return self
    }
  }
}
