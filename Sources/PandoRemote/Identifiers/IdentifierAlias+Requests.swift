import FoundationEssentials
import PandoManagers
import PandoModels
import PandoStore

extension IdentifierAlias {
  /// Puts the server's identifiers in the place of local ones that have become known.
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

  /// What entities are called now that a text stands for, whatever their namespace.
  ///
  /// - Parameters:
  ///   - texts: `local:` and a key, each.
  ///   - rows: The rows of the queue.
  /// - Returns: Those that have got a name since.
  /// - Throws: What the disk throws.
  /// - Complexity: O(*n*) for *n* names that servers have given; nothing without texts.
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

  /// Puts the server's identifier in the place of the local one.
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
  /// Puts a server's identifier in the place of a local one, wherever it stands as a whole: as a
  /// segment of the path, as a value behind the question mark or one of a list there, as the value of
  /// a header field, as a text or a name in a JSON content.
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
  /// Puts a server's identifier in the place of a local one, wherever it stands as a whole.
  mutating func replace(_ alias: IdentifierAlias, local: String) {
    guard localIdentifiers.contains(where: { $0.hasSameBytes(as: alias.old) }) else { return }
    localIdentifiers.removeAll { $0.hasSameBytes(as: alias.old) }
    // What was encoded as JSON here is JSON; both texts are small.
    guard let json = try? TreeValue(json: String(decoding: bytes, as: UTF8.self)),
      let new = try? TreeValue(json: alias.json)
    else { return }
    bytes = Data(json.replacing(local, with: new, name: alias.text).json().utf8)
  }
}

extension TreeValue {
  /// The same JSON with a text replaced wherever it stands as a whole.
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
