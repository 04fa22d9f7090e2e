extension ModelError {
  /// A value of another kind than the type wants.
  static func mismatch(_ wanted: String, _ head: CBORHead) -> ModelError {
    ModelError(.typeMismatch, reason: "\(name(head)) where \(wanted) is required")
  }

  /// A number that the type has no room for, or not the exact value.
  static func inexact(_ type: Any.Type, _ number: String) -> ModelError {
    ModelError(.typeMismatch, reason: "\(number) is no \(type)")
  }

  private static func name(_ head: CBORHead) -> String {
    switch head.major {
    case .unsigned, .negative: "an integer"
    case .bytes: "bytes"
    case .text: "a text"
    case .array: "an array"
    case .map: "a map"
    case .tag:
      switch head.argument {
      case RecordTag.requiredReference, RecordTag.optionalReference: "a reference to another node"
      case RecordTag.optionalSlot, RecordTag.entries: "a map"
      default: "a value with tag \(head.argument)"
      }
    case .simple:
      head.isFloat
        ? "a float" : head.isNull ? "null" : head.bool != nil ? "a bool" : "a simple value"
    }
  }
}
