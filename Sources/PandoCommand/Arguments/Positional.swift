/// An argument that is known by its place.
struct Positional: Sendable, Hashable {
  /// How often the argument stands there.
  enum Count: Sendable, Hashable {
    case one
    case optional
    case any
  }

  /// The name that usage and errors show, for example `STORE`.
  let name: String
  /// How often it is given.
  let count: Count
  /// One line of help.
  let help: String

  init(_ name: String, count: Count = .one, _ help: String) {
    self.name = name
    self.count = count
    self.help = help
  }

  /// The argument as the usage line shows it.
  var usage: String {
    switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .any: "[\(name)…]"
    }
  }

  /// The store's directory, the first argument of every command.
  static let store = Positional("STORE", "the store's directory")
}
