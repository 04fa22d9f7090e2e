/// An error of storing a model, or of reading a record as a type.
///
/// ```swift
/// do {
///   let person = try store.read { try $0.get("Person:7", as: Person.self) }
/// } catch let error as ModelError where error.code == .missingField {
///   print(error.identifier ?? "", error.field ?? "", error.reason)
/// }
/// ```
public struct ModelError: Error {
  /// The kind of failure.
  ///
  /// Match on this; later versions may add codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name of the failure.
    public let rawValue: String

    /// Makes a code from its name.
    ///
    /// - Parameter rawValue: The name of the failure.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The identifier of the affected node; `nil` if there is none or it is unknown.
  public private(set) var identifier: String?
  /// The name of the affected model type, if known.
  public private(set) var typeName: String?
  /// The reason, for people.
  public let reason: String
  /// The error of the model's own coding, if this error only adds its position.
  public let underlying: (any Error)?

  /// The keys and indexes from the requested record to the affected value.
  private(set) var path: [String] = []
  /// The number of them up to the node with ``identifier``.
  private var nodeDepth = 0

  @inline(never)
  package init(
    _ code: Code, identifier: String? = nil, typeName: String? = nil, reason: String,
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.identifier = identifier
    self.typeName = typeName
    self.reason = reason
    self.underlying = underlying
  }

  /// The affected field of the node, as in `author.emails[2]`; `nil` if it is the whole node.
  public var field: String? {
    let own = path.dropFirst(nodeDepth)
    return own.isEmpty ? nil : Self.joined(own)
  }

  /// The field of the requested record that contains the affected value at any depth.
  package var topField: String? { path.first }

  /// A `Decoder` or a container of one was used after the model was complete.
  package static var snapshotEnded: ModelError {
    @inline(never) get {
      ModelError(
        .snapshotEnded,
        reason: "a decoder was kept and used after the snapshot it read from had ended")
    }
  }

  /// The same error with its node, if that was unknown.
  package func about(identifier: String, typeName: String) -> ModelError {
    guard self.identifier == nil else { return self }
    var error = self
    error.identifier = identifier
    error.typeName = typeName
    return error
  }

  /// The same error inside a field.
  @inline(never)
  package func inside(_ key: String) -> ModelError {
    var error = self
    error.path.insert(key, at: 0)
    if identifier != nil { error.nodeDepth += 1 }
    return error
  }

  /// Joins keys by dots; indexes already have brackets.
  private static func joined(_ path: ArraySlice<String>) -> String {
    path.dropFirst().reduce(into: path.first ?? "") { text, key in
      text += key.hasPrefix("[") ? key : ".\(key)"
    }
  }
}

extension ModelError.Code {
  /// An identifier occurs inside its own subtree.
  public static var cyclicModel: Self { Self(rawValue: "cyclicModel") }
  /// An identifier is empty; a model that is no node has `nil`.
  public static var emptyIdentifier: Self { Self(rawValue: "emptyIdentifier") }
  /// The root of a tree has no identifier.
  public static var missingIdentifier: Self { Self(rawValue: "missingIdentifier") }
  /// Nodes are nested deeper than 1 024 levels, or values, lists and maps in one node deeper than 128.
  public static var nestingTooDeep: Self { Self(rawValue: "nestingTooDeep") }
  /// A record lacks a field that the type requires.
  public static var missingField: Self { Self(rawValue: "missingField") }
  /// A field contains a value of another kind than the type requires.
  public static var typeMismatch: Self { Self(rawValue: "typeMismatch") }
  /// The bytes do not form a record.
  public static var invalidRecord: Self { Self(rawValue: "invalidRecord") }
  /// A `Decoder` was used after the end of its snapshot.
  public static var snapshotEnded: Self { Self(rawValue: "snapshotEnded") }
  /// An `Encoder` was used after the end of its encoding.
  public static var encodingEnded: Self { Self(rawValue: "encodingEnded") }
  /// A generic or local type has no `modelTypeName` of its own.
  public static var unnamedType: Self { Self(rawValue: "unnamedType") }
  /// A type name is empty, too long, or contains control characters.
  public static var badTypeName: Self { Self(rawValue: "badTypeName") }
  /// A model that needs coding is not `Codable`.
  public static var notCodable: Self { Self(rawValue: "notCodable") }
  /// A model's own coding failed, or called an unsupported operation.
  public static var codingFailed: Self { Self(rawValue: "codingFailed") }
  /// A field declared for queries has another coded name, or is not coded.
  public static var misdeclaredField: Self { Self(rawValue: "misdeclaredField") }
  /// Two keys of a dictionary have the same stored name, or two stored keys are equal in Swift.
  public static var duplicateKey: Self { Self(rawValue: "duplicateKey") }
}

extension ModelError: CustomStringConvertible {
  /// One line with the node, the field and the reason.
  public var description: String {
    var subject = typeName ?? ""
    if let identifier { subject += subject.isEmpty ? "\"\(identifier)\"" : " \"\(identifier)\"" }
    if let field { subject += subject.isEmpty ? "field \(field)" : ", field \(field)" }
    let cause = underlying.map { ": \($0)" } ?? ""
    return (subject.isEmpty ? reason : "\(subject): \(reason)") + cause
  }
}
