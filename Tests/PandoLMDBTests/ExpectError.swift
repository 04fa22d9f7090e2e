import PandoLMDB
import Testing

/// Expects that `body` throws an ``LMDBError`` with a code.
///
/// Not `#expect(throws:)`: its closure escapes and so can't use a transaction.
@discardableResult
func expectError(
  _ code: LMDBError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) -> LMDBError? {
  do {
    try body()
    Issue.record("no error, \(code) was expected", sourceLocation: sourceLocation)
  } catch let error as LMDBError {
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    return error
  } catch {
    Issue.record(error, sourceLocation: sourceLocation)
  }
  return nil
}
