/// The version of this package, the only place that has it; `docs/release` reads it here.
enum Version {
  static let text = "0.2.0"
}
