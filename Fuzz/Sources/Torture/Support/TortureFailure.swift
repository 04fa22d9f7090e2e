/// Something that must never be: what the run was made to find.
struct TortureFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Throws unless something is true.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
  if !condition { throw TortureFailure(message()) }
}
