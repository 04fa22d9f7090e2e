/// A change of a collection as the command line says it.
enum CollectionEdit: Sendable, Hashable {
  case append([String])
  case insert(Int, [String])
  case move(Int, Int)
  case remove(Int, count: Int)
  case removeAll

  /// Reads an action and its arguments.
  ///
  /// - Throws: A usage error that says what the action takes.
  init(_ action: String, _ arguments: [String]) throws(CommandError) {
    switch (action, arguments.count) {
    case ("append", 1...): self = .append(arguments)
    case ("insert", 2...):
      self = .insert(
        try CollectionEdit.position(arguments[0]), Array(arguments.dropFirst()))
    case ("move", 2):
      self = .move(
        try CollectionEdit.position(arguments[0]), try CollectionEdit.position(arguments[1]))
    case ("remove", 1) where arguments[0] == "all": self = .removeAll
    case ("remove", 1...2):
      let count =
        arguments.count == 2 ? try ParsedArguments.count(arguments[1], called: "COUNT") : 1
      self = .remove(try CollectionEdit.position(arguments[0]), count: count)
    case ("append", _): throw CollectionEdit.usage("append takes ELEMENT…")
    case ("insert", _): throw CollectionEdit.usage("insert takes POSITION ELEMENT…")
    case ("move", _): throw CollectionEdit.usage("move takes FROM TO")
    case ("remove", _): throw CollectionEdit.usage("remove takes POSITION [COUNT], or all")
    default: throw CollectionEdit.usage("“\(action)” is none of append, insert, move, remove")
    }
  }

  /// The elements that are to be put in.
  var elements: [String] {
    switch self {
    case .append(let elements), .insert(_, let elements): elements
    default: []
    }
  }

  private static func position(_ text: String) throws(CommandError) -> Int {
    try ParsedArguments.count(text, called: "a position")
  }

  private static func usage(_ reason: String) -> CommandError {
    CommandError(.usage, reason, remedy: "see: pando collection --help")
  }
}
