extension ModelError.Code {
  /// An identifier occurs inside its own subtree.
  public static var cyclicModel: Self { Self(rawValue: "cyclicModel") }
  /// An identifier is empty; a model that is no node has `nil`.
  public static var emptyIdentifier: Self { Self(rawValue: "emptyIdentifier") }
  /// The root of a tree has no identifier.
  public static var missingIdentifier: Self { Self(rawValue: "missingIdentifier") }
  /// Models, lists and maps are nested deeper than the limit.
  public static var nestingTooDeep: Self { Self(rawValue: "nestingTooDeep") }
  /// A record lacks a field that the type requires.
  public static var missingField: Self { Self(rawValue: "missingField") }
  /// A field holds a value of another kind than the type wants.
  public static var typeMismatch: Self { Self(rawValue: "typeMismatch") }
  /// The bytes of a record are not what a record is made of.
  public static var invalidRecord: Self { Self(rawValue: "invalidRecord") }
  /// A kept `Decoder` was used after its snapshot had ended.
  public static var snapshotEnded: Self { Self(rawValue: "snapshotEnded") }
  /// A kept `Encoder` was used after its model had been encoded.
  public static var encodingEnded: Self { Self(rawValue: "encodingEnded") }
  /// A generic or local type does not give itself a name.
  public static var unnamedType: Self { Self(rawValue: "unnamedType") }
  /// A type name is empty, too long, or holds control characters.
  public static var badTypeName: Self { Self(rawValue: "badTypeName") }
  /// A model that has to be coded is not `Codable`.
  public static var notCodable: Self { Self(rawValue: "notCodable") }
  /// A model's own coding threw, or asked for something impossible.
  public static var codingFailed: Self { Self(rawValue: "codingFailed") }
  /// Two keys of a dictionary are stored under one name, or two stored keys are equal in Swift.
  public static var duplicateKey: Self { Self(rawValue: "duplicateKey") }
}

extension ModelError: CustomStringConvertible {
  /// One line: which node and field, and what is wrong.
  public var description: String {
    var subject = typeName ?? ""
    if let identifier { subject += subject.isEmpty ? "\"\(identifier)\"" : " \"\(identifier)\"" }
    if let field { subject += subject.isEmpty ? "field \(field)" : ", field \(field)" }
    let cause = underlying.map { ": \($0)" } ?? ""
    return (subject.isEmpty ? reason : "\(subject): \(reason)") + cause
  }
}
