import FoundationEssentials
import PandoModels
package import PandoRecords
public import PandoStore

/// An identifier of an entity, unique in its type: a key of the server, or a local key until there is one.
///
/// ```swift
/// let book = Book(id: EntityIdentifier(), title: "Emma")  // its own until the server gives one
/// try await books.set(book, in: .localAndRemote)
/// let seventh = try await books.get(byID: .remote("7"))
/// ```
///
/// Identifiers are equal if form and key are equal. The coding of a remote one is the key, of a local one the
/// text `local:` and the key. So a remote key can't begin with `local:`, and no key is empty; encoding such
/// an identifier throws.
public enum EntityIdentifier<E: Entity>: Sendable {
  /// The server's key.
  case remote(E.RemoteID)

  /// A key made locally.
  case local(String)

  /// Makes a unique local identifier.
  public init() { self = .local(UUID().uuidString) }
}

extension EntityIdentifier {
  /// Whether the key was made locally.
  public var isLocal: Bool {
    if case .local = self { true } else { false }
  }

  /// The server's key; `nil` for a local identifier.
  public var remoteID: E.RemoteID? {
    if case .remote(let key) = self { key } else { nil }
  }

  /// The identifier as text within its type: the key, or `local:` and the key.
  public var text: String {
    switch self {
    case .remote(let key): key.keyText
    case .local(let key): EntityIdentifierText.localPrefix + key
    }
  }

  /// Reads the text of an identifier.
  ///
  /// - Parameter text: A result of ``text``.
  public init?(text: String) {
    if let key = EntityIdentifierText.localKey(of: text) {
      guard !key.isEmpty else { return nil }
      self = .local(key)
    } else {
      guard !text.isEmpty, let key = E.RemoteID(keyText: text) else { return nil }
      self = .remote(key)
    }
  }

  /// The identifier of the node in a store: the type's namespace, a colon and ``text``.
  public var modelIdentifier: String {
    EntityIdentifierText.modelIdentifier(text, in: E.identifierNamespace)
  }

  /// Reads the identifier of a node.
  ///
  /// - Parameter modelIdentifier: A result of ``modelIdentifier``, of the same entity type.
  public init?(modelIdentifier: String) {
    let namespace = E.identifierNamespace
    guard modelIdentifier.utf8.starts(with: namespace.utf8) else { return nil }
    let rest = modelIdentifier.utf8.dropFirst(namespace.utf8.count)
    guard rest.first == UInt8(ascii: ":"), let text = String(rest.dropFirst()) else { return nil }
    self.init(text: text)
  }

  /// Throws if the identifier can't be stored.
  ///
  /// - Throws: `QueryError` `invalidIdentifier` for an empty key or a remote one with the prefix `local:`.
  /// - Complexity: O(*k*) for *k* bytes of the key.
  public func validate() throws(QueryError) {
    let name = E.identifierNamespace
    switch self {
    case .local(let key):
      guard !key.isEmpty else {
        throw QueryError(.invalidIdentifier, name, "the key of a local identifier is empty")
      }
    case .remote(let key):
      let text = key.keyText
      guard !text.isEmpty else {
        throw QueryError(.invalidIdentifier, name, "the key of a remote identifier is empty")
      }
      guard EntityIdentifierText.localKey(of: text) == nil else {
        throw QueryError(
          .invalidIdentifier, name,
          "the remote key \"\(text)\" begins with \"local:\", which marks identifiers given here")
      }
    }
  }
}

extension EntityIdentifier: Hashable {
  /// Compares form and key; texts are compared byte by byte.
  ///
  /// - Parameters:
  ///   - left: An identifier.
  ///   - right: An identifier.
  /// - Returns: Whether they name the same entity.
  public static func == (left: EntityIdentifier, right: EntityIdentifier) -> Bool {
    switch (left, right) {
    case (.remote(let left), .remote(let right)): left.isSameKey(as: right)
    case (.local(let left), .local(let right)): left.hasSameBytes(as: right)
    default: false
    }
  }

  /// Adds form and key to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .remote(let key): key.hashKey(into: &hasher)
    case .local(let key):
      hasher.combine(true)
      key.hashBytes(into: &hasher)
    }
  }
}

extension EntityIdentifier: Codable {
  /// Reads a plain key, or a text that begins with `local:`.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: `DecodingError` if the value is neither, or empty.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if E.RemoteID.self != String.self, let key = try? container.decode(E.RemoteID.self) {
      self = .remote(key)
      return
    }
    let text = try container.decode(String.self)
    guard let identifier = EntityIdentifier(text: text) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "\"\(text)\" is no identifier of \(E.identifierNamespace)")
    }
    self = identifier
  }

  /// Writes the plain key, or the text `local:` and the key.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: `EncodingError` for an empty key or a remote one with the prefix `local:`.
  public func encode(to encoder: any Encoder) throws {
    do {
      try validate()
    } catch {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: error.description))
    }
    var container = encoder.singleValueContainer()
    switch self {
    case .remote(let key): try container.encode(key)
    case .local:
      let found = encoder.userInfo[LocalIdentifierCollector.key] as? LocalIdentifierCollector
      found?.note(modelIdentifier)
      try container.encode(text)
    }
  }
}

extension EntityIdentifier: RecordItemDecodable {
  /// Reads a text or a nonnegative number; `init(from:)` reads other keys.
  package init(item reader: inout CBORReader) throws {
    let key = E.RemoteID.self
    if key == String.self {
      let text = try reader.text()
      guard !text.isEmpty else { throw OtherRecordItem() }
      if let local = EntityIdentifierText.localKey(of: text) {
        guard !local.isEmpty else { throw OtherRecordItem() }
        self = .local(local)
      } else {
        // The key type is `String`.
        self = .remote(unsafe unsafeBitCast(text, to: key))
      }
    } else if key == Int.self || key == Int64.self {
      guard let number = Int64(exactly: try reader.unsigned()) else { throw OtherRecordItem() }
      // `Int` and `Int64` have the same bits here.
      self = .remote(unsafe unsafeBitCast(number, to: key))
    } else {
      throw OtherRecordItem()
    }
  }
}

extension EntityIdentifier: CustomStringConvertible {
  /// The identifier of the node.
  public var description: String { modelIdentifier }
}

extension EntityIdentifier: QueryRepresentable {
  /// The kinds of the key type, and text.
  public static var queryKinds: Set<QueryValue.Kind> { E.RemoteID.queryKinds.union([.string]) }

  /// The stored key.
  public var queryValue: QueryValue {
    switch self {
    case .remote(let key): key.queryValue
    case .local: .string(text)
    }
  }

  /// Makes the identifier with a stored key.
  ///
  /// - Parameter queryValue: The key; `nil` is returned if it can be none.
  public init?(queryValue: QueryValue) {
    switch queryValue {
    case .integer(let number): self.init(text: String(number))
    case .string(let text): self.init(text: text)
    case .uuid(let uuid): self.init(text: uuid.uuidString)
    default: return nil
    }
    // An integer and the text of its digits are two values.
    guard self.queryValue == queryValue else { return nil }
  }
}

extension EntityIdentifier: TypedIdentifier {
  /// The namespace of the entity type.
  package static var namespace: String { E.identifierNamespace }

  /// Whether the server names entities of the type by texts.
  package static var hasTextKeys: Bool { E.RemoteID.self == String.self }

  /// The identifier of the node with a key.
  package static func nodeIdentifier(of value: QueryValue) -> String? {
    EntityIdentifier(queryValue: value)?.modelIdentifier
  }

  /// The key of a node.
  package static func value(ofNode identifier: String) -> QueryValue? {
    EntityIdentifier(modelIdentifier: identifier)?.queryValue
  }

  /// Whether a key path is that of the protocol's requirement.
  package static func isIdentifier(_ keyPath: AnyKeyPath) -> Bool { keyPath == \E.id }

  /// The field of the protocol's requirement.
  package static var field: any Sendable { QueryField(\E.id) }
}
