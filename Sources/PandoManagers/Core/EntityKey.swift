public import FoundationEssentials
import PandoModels

/// The key of an entity on a server: `Int`, `Int64`, `String` or `UUID`.
///
/// ```swift
/// struct Shelf: Entity {
///   typealias RemoteID = Int  // the default is String
///   var id: EntityIdentifier<Shelf>
/// }
/// let shelf = Shelf(id: .remote(7))
/// ```
public protocol EntityKey: Hashable, Sendable, Codable, QueryRepresentable {
  /// The key as text: equal for equal keys, different for different keys.
  var keyText: String { get }

  /// Makes a key from its text.
  ///
  /// - Parameter keyText: A result of ``keyText``.
  init?(keyText: String)

  /// Whether two keys are equal, byte by byte.
  ///
  /// - Parameter other: A key.
  /// - Returns: Whether they are equal.
  func isSameKey(as other: Self) -> Bool

  /// Adds the key to a hasher; equal keys give equal hashes.
  ///
  /// - Parameter hasher: The hasher.
  func hashKey(into hasher: inout Hasher)
}

extension EntityKey {
  /// Compares by `==`.
  ///
  /// - Parameter other: A key.
  /// - Returns: Whether they are equal.
  public func isSameKey(as other: Self) -> Bool { self == other }

  /// Hashes as `Hashable` does.
  ///
  /// - Parameter hasher: The hasher.
  public func hashKey(into hasher: inout Hasher) { hash(into: &hasher) }
}

extension String: EntityKey {
  /// Compares the bytes, so two spellings of one character are two keys.
  ///
  /// - Parameter other: A key.
  /// - Returns: Whether the bytes are equal.
  public func isSameKey(as other: String) -> Bool { hasSameBytes(as: other) }

  /// Adds the bytes to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hashKey(into hasher: inout Hasher) { hashBytes(into: &hasher) }

  /// The text itself.
  public var keyText: String { self }

  /// Uses the text as the key.
  ///
  /// - Parameter keyText: A text that is not empty.
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
  /// - Parameter keyText: 36 characters.
  public init?(keyText: String) {
    guard let value = UUID(uuidString: keyText), value.uuidString == keyText else { return nil }
    self = value
  }
}
