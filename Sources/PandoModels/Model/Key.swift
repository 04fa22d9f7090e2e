public import FoundationEssentials

/// The identifier of a node, with the type of the node.
///
/// ```swift
/// let key = Person.key(12)  // "Person:12", made by @Model
/// let ada = try snapshot[key]  // a Person
/// struct Issue: Model, Codable, Equatable {
///   var id: Int
///   var assignee: Key<Person>?  // a reference: typed, not loaded, no child
///   var modelIdentifier: String? { "Issue:\(id)" }
/// }
/// ```
///
/// A key is coded as its text, also as a key of a dictionary. A key of an untyped identifier is
/// made by ``init(rawValue:)``. Keys are equal if the bytes of their texts are, as identifiers of a store
/// are: two spellings of one character are two keys.
public struct Key<Node>: RawRepresentable, Hashable, Sendable, Codable, CodingKeyRepresentable {
  /// The identifier of the node, as in ``SimpleModel/modelIdentifier``.
  public let rawValue: String

  /// Makes a key from an identifier, which is not checked.
  ///
  /// - Parameter rawValue: The identifier.
  public init(rawValue: String) { self.rawValue = rawValue }
}

extension Key {
  /// Compares the texts byte by byte.
  ///
  /// - Parameters:
  ///   - left: A key.
  ///   - right: A key.
  /// - Returns: Whether they name the same node.
  public static func == (left: Key, right: Key) -> Bool {
    left.rawValue.hasSameBytes(as: right.rawValue)
  }

  /// Compares the texts byte by byte; the operator for raw values would not.
  ///
  /// - Parameters:
  ///   - left: A key.
  ///   - right: A key.
  /// - Returns: Whether they name different nodes.
  public static func != (left: Key, right: Key) -> Bool { !(left == right) }

  /// Adds the bytes of the text to a hasher.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { rawValue.hashBytes(into: &hasher) }
}

extension Key: CustomStringConvertible {
  /// The identifier of the node.
  public var description: String { rawValue }
}

/// A value that identifiers of nodes are made of.
///
/// ```swift
/// enum Region: String, Codable, KeyPart { case north, south }
/// Station.key(.north, 7)  // "Station:north/7"
/// ```
///
/// Different values have different texts. Texts are compared by their bytes, so two spellings of one
/// character are different values. A type with raw values needs only the conformance.
public protocol KeyPart {
  /// The text of the value in an identifier.
  var keyText: String { get }
}

extension KeyPart where Self: RawRepresentable, RawValue: KeyPart {
  /// The text of the raw value.
  public var keyText: String { rawValue.keyText }
}

extension KeyPart where Self: FixedWidthInteger {
  /// The decimal digits.
  public var keyText: String { String(self) }
}

extension String: KeyPart {
  /// The text itself.
  public var keyText: String { self }
}

extension Int: KeyPart {}
extension Int8: KeyPart {}
extension Int16: KeyPart {}
extension Int32: KeyPart {}
extension Int64: KeyPart {}
extension Int128: KeyPart {}
extension UInt: KeyPart {}
extension UInt8: KeyPart {}
extension UInt16: KeyPart {}
extension UInt32: KeyPart {}
extension UInt64: KeyPart {}
extension UInt128: KeyPart {}
extension Key: KeyPart {}

extension UUID: KeyPart {
  /// The text of the UUID in capital letters.
  public var keyText: String { uuidString }
}

/// A model whose identifier is never nil; `@Model` makes a struct one.
///
/// ```swift
/// @Model struct Person {
///   @Key var id: Int
///   var name: String
/// }
/// Person(id: 12, name: "Ada").key == Person.key(12)
/// ```
public protocol KeyedModel: Model {
  /// The identifier of the node.
  var modelIdentifier: String { get }
}

extension KeyedModel {
  /// The identifier of the node.
  @inlinable public var modelIdentifier: String? {
    let identifier: String = modelIdentifier
    return identifier
  }

  /// The typed identifier of the node.
  @inlinable public var key: Key<Self> { Key(rawValue: modelIdentifier) }

  /// Makes the identifier of a node whose key is one value: the name of the type, a colon and the
  /// text of the value.
  ///
  /// - Parameter part: The value of the key.
  /// - Returns: The identifier, as `Person:12`.
  @inlinable
  public static func makeIdentifier(_ part: some KeyPart) -> String {
    var identifier = modelTypeName
    identifier.append(":")
    identifier.append(part.keyText)
    return identifier
  }

  /// Makes the identifier of a node whose key has several values.
  ///
  /// In each text `/`, `%` and control characters are written as `%` and two hexadecimal digits, so
  /// that different values have different identifiers.
  ///
  /// - Parameters:
  ///   - first: The first value of the key.
  ///   - second: The second one.
  ///   - rest: The other values.
  /// - Returns: The identifier, as `Product:acme/7`.
  public static func makeIdentifier<each Part: KeyPart>(
    _ first: some KeyPart, _ second: some KeyPart, _ rest: repeat each Part
  ) -> String {
    var identifier = modelTypeName
    identifier.append(":")
    KeyText.append(first.keyText, to: &identifier)
    identifier.append("/")
    KeyText.append(second.keyText, to: &identifier)
    for part in repeat each rest {
      identifier.append("/")
      KeyText.append(part.keyText, to: &identifier)
    }
    return identifier
  }
}

/// Texts as parts of identifiers.
private enum KeyText {
  /// Appends a text with `/`, `%` and control characters escaped.
  static func append(_ text: String, to identifier: inout String) {
    guard text.utf8.contains(where: isEscaped) else { return identifier.append(text) }
    for scalar in text.unicodeScalars {
      if scalar.isASCII, isEscaped(UInt8(scalar.value)) {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        identifier.append(scalar.value < 0x10 ? "%0" : "%")
        identifier.append(digits)
      } else {
        identifier.unicodeScalars.append(scalar)
      }
    }
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "%")
  }
}
