/// Why bytes are no record body.
///
/// Small, because functions that recurse throw it: a ``ModelError`` in each of their frames would
/// take much of a thread's stack. What is `package` throws the ``ModelError`` it stands for.
enum RecordFault: Error {
  /// The bytes are no CBOR that a record is made of.
  case cbor(CBORError)
  /// They are CBOR, but a record does not hold such an item there.
  case misplaced(StaticString, offset: Int)
  /// Levels are nested deeper than the limit.
  case nestingTooDeep

  /// The error for callers.
  var modelError: ModelError {
    switch self {
    case .cbor(let error):
      ModelError(.invalidRecord, reason: error.description)
    case .misplaced(let what, let offset):
      ModelError(.invalidRecord, reason: "\(what) at byte \(offset)")
    case .nestingTooDeep:
      ModelError(
        .nestingTooDeep, reason: "nested deeper than \(RecordBody.maximumNestingDepth) levels")
    }
  }

  /// Runs a function on a body and turns its fault into the error for callers.
  static func asModelError<Result: ~Copyable>(
    _ body: () throws(RecordFault) -> Result
  ) throws(ModelError) -> Result {
    do {
      return try body()
    } catch {
      throw error.modelError
    }
  }
}
