import PandoModels
import PandoRecords

/// The identifier that a server gave an entity, stored under its former identifier.
///
/// Each row is a property of the store, so trees that contain the former identifier are stored with
/// the present one (``RecordCollector``).
package struct IdentifierAlias: Hashable, Sendable, Codable {
  /// The former model identifier.
  package let old: String
  /// The present model identifier.
  package let new: String
  /// The server's identifier as JSON: a number or a text in quotes.
  package let json: String
  /// The server's identifier as text.
  package let text: String

  /// Makes an alias.
  package init(old: String, new: String, json: String, text: String) {
    (self.old, self.new, self.json, self.text) = (old, new, json, text)
  }

  /// The name of the property with the alias of a node.
  package static func rowName(of modelIdentifier: String) -> String {
    PropertyName.bounded("alias/", modelIdentifier)
  }

  /// Whether a node can have an alias, because its identifier was assigned locally.
  package static func canExist(of modelIdentifier: String) -> Bool {
    // A search for bytes; that of `String` compares characters.
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
  ///   - modelIdentifier: The former identifier; the row of a shortened name may be another's.
  /// - Returns: The alias; `nil` if the row belongs to another identifier.
  /// - Throws: `ModelError` if the row can't be read.
  package static func read(
    _ bytes: [UInt8], of modelIdentifier: String
  ) throws -> IdentifierAlias? {
    let alias = try unsafe bytes.withUnsafeBytes {
      try unsafe RecordDecoder.decodeValue(IdentifierAlias.self, from: $0)
    }
    return alias.old.hasSameBytes(as: modelIdentifier) ? alias : nil
  }
}

extension IdentifierAlias {
  /// A body with the former identifier replaced in all values.
  func renamed(_ body: UnsafeRawBufferPointer) throws -> [UInt8] {
    try unsafe RecordBody.replacing(Self.localText(of: old), with: value, in: body)
  }

  /// The server's identifier as a value in a record.
  package var value: [UInt8] {
    var value = CBORWriter(minimumCapacity: json.utf8.count + 9)
    if let number = Int128(json) { value.append(number) } else { value.append(text) }
    return value.bytes
  }

  /// The form of a local model identifier in a record or a request: `local:` and its key.
  package static func localText(of modelIdentifier: String) -> String {
    guard let range = modelIdentifier.firstRange(of: ":local:") else { return modelIdentifier }
    return String(modelIdentifier[modelIdentifier.utf8.index(after: range.lowerBound)...])
  }
}
