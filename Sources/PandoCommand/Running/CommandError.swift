/// A failure as a person reads it: what was done, where it failed, why, and what to do.
struct CommandError: Error, Hashable {
  /// The status the process ends with.
  let exitCode: ExitCode
  /// The place: a path, a line and column, an identifier; empty when there is none.
  var place: String
  /// The reason.
  var reason: String
  /// What the person can do about it; empty when nothing can be advised.
  var remedy: String

  init(_ exitCode: ExitCode, at place: String = "", _ reason: String, remedy: String = "") {
    self.exitCode = exitCode
    self.place = place
    self.reason = reason
    self.remedy = remedy
  }

  /// The whole error as one line without its newline.
  ///
  /// - Parameter subject: What was done, for example `pando import`.
  /// - Returns: The line, control characters escaped.
  func line(for subject: String) -> String {
    var line = subject
    if !place.isEmpty { line += ": " + place }
    line += ": " + reason
    if !remedy.isEmpty { line += "; " + remedy }
    return line.escapingControlCharacters
  }

  /// The same error with a place in front of its own.
  func placed(in outer: String) -> CommandError {
    var error = self
    error.place = place.isEmpty ? outer : outer + ", " + place
    return error
  }

  /// The same error with one more thing to know.
  ///
  /// It takes the place of “nothing was changed”, which the error may say already.
  func advising(_ advice: String) -> CommandError {
    var error = self
    let parts = remedy.isEmpty ? [] : remedy.split(separator: "; ").map(String.init)
    error.remedy = (parts.filter { $0 != "nothing was changed" } + [advice])
      .joined(separator: "; ")
    return error
  }
}
