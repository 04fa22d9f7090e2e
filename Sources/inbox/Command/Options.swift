/// What the command line says.
struct Options: Equatable {
  /// Where the store is; a temporary directory if nothing is said.
  var directory: String?
  /// Where the service listens; 0 for any free port.
  var port: UInt16 = 0
  /// Whether the service stays, instead of telling its story.
  var serves = false
  /// Whether the help is wanted.
  var wantsHelp = false

  /// Reads a command line.
  ///
  /// - Parameter arguments: What follows the program's name.
  /// - Throws: A ``UsageError``.
  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? String(parts[1]) : nil
      switch (String(parts.first ?? ""), value) {
      case ("--directory", _):
        directory = try Self.value(value ?? rest.popFirst(), of: "--directory")
      case ("--port", _):
        let text = try Self.value(value ?? rest.popFirst(), of: "--port")
        guard let number = UInt16(text) else {
          throw UsageError("--port \(text): a port is a number from 0 to 65535")
        }
        port = number
      case ("--serve", nil): serves = true
      case ("--help", nil), ("-h", nil): wantsHelp = true
      default: throw UsageError("“\(argument)” is no option")
      }
    }
  }

  private static func value(_ text: String?, of option: String) throws(UsageError) -> String {
    guard let text, !text.isEmpty else { throw UsageError("\(option) needs a value") }
    return text
  }

  /// What `--help` prints.
  static let help = """
    usage: inbox [--directory DIR] [--port N] [--serve]

    A service with messages, people and contacts, all kept in a Pando store. It tells by itself
    how data flow from cache and network to the views, and checks what it tells: it ends with
    status 1 if the story does not hold.

      --directory DIR  where the store is; a temporary directory unless given
      --port N         where the service listens on 127.0.0.1; any free port unless given
      --serve          stay and answer curl, until SIGTERM or Ctrl-C

    """
}
