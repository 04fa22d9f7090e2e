extension ModelError {
  /// Takes over an error that a model's own coding threw.
  ///
  /// - Returns: `nil` if it comes from somewhere else and has to reach the caller unchanged.
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
}
