import PandoModels

/// The identifier that a server gave an entity, kept under the one the entity had before.
///
/// Each row is a property of the store, so trees that still hold the entity under its former identifier are
/// stored with the present one (``RecordCollector``).
package struct IdentifierAlias: Hashable, Sendable {
  /// The model identifier before.
  package let old: String
  /// The model identifier now.
  package let new: String
  /// The server's identifier as JSON: a number or a text in quotes.
  package let json: String
  /// The server's identifier as text.
  package let text: String

  /// Makes an alias.
  package init(old: String, new: String, json: String, text: String) {
    (self.old, self.new, self.json, self.text) = (old, new, json, text)
  }

  /// The name of the property that has the alias of a node.
  package static func rowName(of modelIdentifier: String) -> String {
    PropertyName.bounded("alias/", modelIdentifier)
  }

  /// Whether a node can have an alias: whether its identifier was given locally.
  package static func canExist(of modelIdentifier: String) -> Bool {
    // A search among bytes; that of `String` compares characters.
    var bytes = modelIdentifier.utf8[...]
    while let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
      bytes = bytes[bytes.index(after: colon)...]
      if bytes.starts(with: "local:".utf8) { return true }
    }
    return false
  }

  /// Reads the row of an alias.
  ///
  /// - Parameters:
  ///   - bytes: The row.
  ///   - modelIdentifier: Whose alias it is to be; names of rows are cut.
  /// - Returns: The alias; `nil` if it is another's.
  /// - Throws: `ModelError` when the row can't be read.
  package static func read(
    _ bytes: [UInt8], of modelIdentifier: String
  ) throws -> IdentifierAlias? {
    let alias = try unsafe bytes.withUnsafeBytes {
      try unsafe RecordDecoder.decodeValue(IdentifierAlias.self, from: $0)
    }
    return alias.old.hasSameBytes(as: modelIdentifier) ? alias : nil
  }
}

extension IdentifierAlias: Codable {
  package init(from decoder: any Decoder) throws {
    let row = try decoder.row()
    old = try row.get("old")
    new = try row.get("new")
    json = try row.get("json")
    text = try row.get("text")
  }

  package func encode(to encoder: any Encoder) throws {
    var row = encoder.container(keyedBy: TextKey.self)
    try row.encode(old, forKey: TextKey("old"))
    try row.encode(new, forKey: TextKey("new"))
    try row.encode(json, forKey: TextKey("json"))
    try row.encode(text, forKey: TextKey("text"))
  }
}

extension IdentifierAlias {
  /// A body with the former identifier replaced wherever it stands as a value.
  func renamed(_ body: UnsafeRawBufferPointer) throws -> [UInt8] {
    var value = CBORWriter(minimumCapacity: json.utf8.count + 9)
    if let number = Int128(json) { value.append(number) } else { value.append(text) }
    // What follows the namespace: `local:` and the key.
    let range = old.firstRange(of: ":local:")
    let local = range.map { old[old.utf8.index(after: $0.lowerBound)...] } ?? old[...]
    return try unsafe RecordBody.replacing(String(local), with: value.bytes, in: body)
  }
}
