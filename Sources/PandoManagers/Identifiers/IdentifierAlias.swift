import PandoModels

/// The identifier that a server gave an entity, kept under the one the entity had before.
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
