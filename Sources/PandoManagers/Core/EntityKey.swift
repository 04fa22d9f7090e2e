public import FoundationEssentials
import PandoModels

/// What a server names an entity by: `Int`, `Int64`, `String` or `UUID`.
///
/// ```swift
/// struct Shelf: Entity {
///   typealias RemoteID = Int  // String, if nothing is said
///   var id: EntityIdentifier<Shelf>
/// }
/// let shelf = Shelf(id: .remote(7))
/// ```
public protocol EntityKey: Hashable, Sendable, Codable, QueryRepresentable {
  /// The key as text, the same for equal keys and different for different ones.
  var keyText: String { get }

  /// Makes a key from its text.
  ///
  /// - Parameter keyText: What ``keyText`` gave.
  init?(keyText: String)

  /// Whether this is the same key, byte by byte.
  ///
  /// - Parameter other: A key.
  /// - Returns: Whether it is the same.
  func isSameKey(as other: Self) -> Bool

  /// Feeds the key to a hasher; the same keys feed the same.
  ///
  /// - Parameter hasher: The hasher.
  func hashKey(into hasher: inout Hasher)
}

extension EntityKey {
  /// Compares by `==`.
  ///
  /// - Parameter other: A key.
  /// - Returns: Whether it is the same.
  public func isSameKey(as other: Self) -> Bool { self == other }

  /// Hashes as `Hashable` does.
  ///
  /// - Parameter hasher: The hasher.
  public func hashKey(into hasher: inout Hasher) { hash(into: &hasher) }
}

extension String: EntityKey {
  /// Compares the bytes: two spellings of one character are two keys.
  ///
  /// - Parameter other: A key.
  /// - Returns: Whether it has the same bytes.
  public func isSameKey(as other: String) -> Bool { hasSameBytes(as: other) }

  /// Feeds the bytes to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hashKey(into hasher: inout Hasher) { hashBytes(into: &hasher) }

  /// The text itself.
  public var keyText: String { self }

  /// Takes the text as it is.
  ///
  /// - Parameter keyText: Any text but an empty one.
  public init?(keyText: String) {
    guard !keyText.isEmpty else { return nil }
    self = keyText
  }
}

extension Int: EntityKey {
  /// The number in decimal.
  public var keyText: String { String(self) }

  /// Reads a decimal number as ``keyText`` writes it.
  ///
  /// - Parameter keyText: The digits, without a plus sign or leading zeros.
  public init?(keyText: String) {
    guard let value = Int(keyText), String(value) == keyText else { return nil }
    self = value
  }
}

extension Int64: EntityKey {
  /// The number in decimal.
  public var keyText: String { String(self) }

  /// Reads a decimal number as ``keyText`` writes it.
  ///
  /// - Parameter keyText: The digits, without a plus sign or leading zeros.
  public init?(keyText: String) {
    guard let value = Int64(keyText), String(value) == keyText else { return nil }
    self = value
  }
}

extension UUID: EntityKey {
  /// The UUID in capital letters.
  public var keyText: String { uuidString }

  /// Reads a UUID as ``keyText`` writes it.
  ///
  /// - Parameter keyText: Thirty-six characters.
  public init?(keyText: String) {
    guard let value = UUID(uuidString: keyText), value.uuidString == keyText else { return nil }
    self = value
  }
}
