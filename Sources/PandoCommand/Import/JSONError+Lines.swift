import PandoModels

extension JSONError {
  /// Whether a whole value was read and something follows it, as in a file of JSON lines.
  var isAfterValue: Bool { reason.hasPrefix("expected nothing more after the value") }
}
