import PandoLMDB
import PandoModels
import PandoStore
import Testing

/// Expects a `StoreError` with a code, and a text in its description.
func expectFailure(
  _ code: StoreError.Code, _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  expectFailure(text, sourceLocation: sourceLocation, body) { (error: StoreError) in
    error.code == code
  }
}

/// Expects a `ModelError` with a code, and a text in its description.
func expectFailure(
  model code: ModelError.Code, _ text: String,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
  expectFailure(text, sourceLocation: sourceLocation, body) { (error: ModelError) in
    error.code == code
  }
}

/// Expects an `LMDBError` with a code, and a text in its description.
func expectFailure(
  engine code: LMDBError.Code, _ text: String = "",
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
  expectFailure(text, sourceLocation: sourceLocation, body) { (error: LMDBError) in
    error.code == code
  }
}

private func expectFailure<Failure: Error>(
  _ text: String, sourceLocation: SourceLocation, _ body: () throws -> Void,
  _ isExpected: (Failure) -> Bool
) {
  do {
    try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
  } catch {
    let line = "\(error)"
    let isRight = (error as? Failure).map(isExpected) ?? false
    #expect(isRight, "\(type(of: error)): \(line)", sourceLocation: sourceLocation)
    #expect(text.isEmpty || line.contains(text), sourceLocation: sourceLocation)
    #expect(!line.contains("\n"), "one line", sourceLocation: sourceLocation)
  }
}
