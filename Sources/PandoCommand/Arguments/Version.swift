/// The version of this package, defined only here; `docs/release` reads it.
enum Version {
  static let text = "0.2.0"
}
