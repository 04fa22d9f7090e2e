public import PandoStore

/// A value that a request can leave out.
///
/// ```swift
/// struct Book: PersistentEntity {
///   var id: EntityIdentifier<Book>
///   var title: String
///   var summary: Lazy<String> = .unrequested  // lists don't have it
/// }
/// let emma = Book(id: .remote("7"), title: "Emma", summary: .requested("A young woman …"))
/// print(emma.summary.value ?? "not requested yet")
/// ```
///
/// An unrequested value is absent from the bytes, and never overwrites a requested one.
public enum Lazy<Value> {
  /// The value is known.
  case requested(Value)

  /// No request has asked for the value.
  case unrequested

  /// The value, or `nil` if it was not requested.
  public var value: Value? {
    if case .requested(let value) = self { value } else { nil }
  }

  /// Whether the value is known.
  public var isRequested: Bool {
    if case .requested = self { true } else { false }
  }
}

extension Lazy: Sendable where Value: Sendable {}
extension Lazy: Equatable where Value: Equatable {}
extension Lazy: Hashable where Value: Hashable {}

extension Lazy: Decodable where Value: Decodable {
  /// Reads a value that is present.
  ///
  /// - Parameter decoder: The decoder.
  /// - Throws: The errors of the value's coding.
  public init(from decoder: any Decoder) throws { self = .requested(try Value(from: decoder)) }
}

extension Lazy: Encodable where Value: Encodable {
  /// Writes the value.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: `EncodingError` for an unrequested value outside a field.
  public func encode(to encoder: any Encoder) throws {
    guard case .requested(let value) = self else {
      throw EncodingError.invalidValue(
        self,
        .init(
          codingPath: encoder.codingPath,
          debugDescription: "a lazy value that was not requested can only stand in a field"))
    }
    try value.encode(to: encoder)
  }
}

extension KeyedEncodingContainer {
  /// Writes a lazy value under a key, or nothing if it was not requested.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The key of the field.
  /// - Throws: The errors of the value's coding.
  public mutating func encode<Value: Encodable>(_ value: Lazy<Value>, forKey key: Key) throws {
    if case .requested(let value) = value { try encode(value, forKey: key) }
  }
}

extension KeyedDecodingContainer {
  /// Reads a lazy value; if the key is absent, it is unrequested.
  ///
  /// - Parameters:
  ///   - type: The type of the field.
  ///   - key: The key of the field.
  /// - Returns: The value.
  /// - Throws: The errors of the value's coding.
  public func decode<Value: Decodable>(
    _ type: Lazy<Value>.Type, forKey key: Key
  ) throws -> Lazy<Value> {
    contains(key) ? .requested(try decode(Value.self, forKey: key)) : .unrequested
  }
}

extension Lazy: QueryRepresentable where Value: QueryRepresentable {
  /// The kinds of the value, and null.
  public static var queryKinds: Set<QueryValue.Kind> { Value.queryKinds.union([.null]) }

  /// The value; null if it is unrequested.
  public var queryValue: QueryValue { value?.queryValue ?? .null }

  /// Makes the value; unrequested of null.
  ///
  /// - Parameter queryValue: A stored value; `nil` is returned for what the value does not have.
  public init?(queryValue: QueryValue) {
    if case .null = queryValue {
      self = .unrequested
    } else if let value = Value(queryValue: queryValue) {
      self = .requested(value)
    } else {
      return nil
    }
  }
}

extension Lazy: FieldWrapper {
  package static var wrappedType: Any.Type { Value.self }
}

/// A lazy value of any type.
private protocol AnyLazy {
  var isRequested: Bool { get }
}

extension Lazy: AnyLazy {}

/// Finds lazy values among the fields of an entity.
package enum LazyFields {
  /// Whether a field of an entity is unrequested.
  package static func areMissing(in entity: some Entity) -> Bool {
    Mirror(reflecting: entity).children.contains { child in
      (child.value as? any AnyLazy)?.isRequested == false
    }
  }

  /// Whether an entity equals another version of it in all fields that this version has requested.
  package static func areEqual<E: LocalEntity>(_ whole: E, _ requested: E) -> Bool {
    whole == requested
      || areMissing(in: requested) && whole == ModelChildren.complete(requested, from: whole)
  }
}
