import PandoModels

extension ModelError {
  /// Converts an error of a model's own coding.
  ///
  /// - Returns: `nil` for an error of another origin, which the caller gets unchanged.
  init?(coding error: any Error) {
    switch error {
    case let error as ModelError: self = error
    case let error as CBORError: self.init(.invalidRecord, reason: error.description)
    case let error as EncodingError:
      self.init(.codingFailed, reason: "can't be encoded", underlying: error)
    case DecodingError.keyNotFound(let key, _):
      self.init(.missingField, reason: "the record has no field \"\(key.stringValue)\"")
    case DecodingError.valueNotFound(let type, _):
      self.init(.typeMismatch, reason: "null where a value of type \(type) is required")
    case DecodingError.typeMismatch(let type, let context):
      self.init(.typeMismatch, reason: "no \(type): \(context.debugDescription)")
    case DecodingError.dataCorrupted(let context):
      self.init(
        .typeMismatch, reason: context.debugDescription, underlying: context.underlyingError)
    case is DecodingError: self.init(.typeMismatch, reason: "can't be decoded", underlying: error)
    default: return nil
    }
  }

  /// An error of a model's coding with its field; errors of another origin are unchanged.
  @inline(never)
  static func located(_ error: any Error, inside key: String) -> any Error {
    (ModelError(coding: error)?.inside(key)) ?? error
  }
}

extension ModelError {
  /// A value of another kind than the type requires.
  @inline(never)
  static func mismatch(_ wanted: String, _ head: CBORHead) -> ModelError {
    ModelError(.typeMismatch, reason: "\(name(head)) where \(wanted) is required")
  }

  /// A number that does not fit the type exactly.
  @inline(never)
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

/// A key made from a text or an index.
struct RecordCodingKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ text: String, intValue: Int? = nil) {
    stringValue = text
    self.intValue = intValue
  }

  init(index: Int) {
    stringValue = "[\(index)]"
    intValue = index
  }

  init?(stringValue: String) { self.init(stringValue) }

  init?(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }
}
