/// What the command line says.
struct Options: Equatable {
  /// What the process is.
  enum Role: Equatable {
    /// The story, which starts the two others.
    case story
    /// The library at work; the server listens on a port.
    case session(port: UInt16)
    /// The server, on a port; 0 for any free one. It may keep its answer to a request back.
    case server(port: UInt16, held: String?)
    /// Whoever explains the rest.
    case help
  }

  /// What the process is.
  var role = Role.story
  /// Where the data is; a temporary directory if nothing is said.
  var directory: String?

  /// Reads a command line.
  ///
  /// - Parameter arguments: What follows the program's name.
  /// - Throws: ``UsageError``.
  init(_ arguments: [String]) throws(UsageError) {
    var rest = arguments[...]
    var held: String?
    while let argument = rest.popFirst() {
      switch argument {
      case "--directory": directory = try Self.value(rest.popFirst(), of: argument)
      case "--session": role = .session(port: try Self.port(rest.popFirst(), of: argument))
      case "--server":
        role = .server(port: try Self.port(rest.popFirst(), of: argument), held: nil)
      case "--hold": held = try Self.value(rest.popFirst(), of: argument)
      case "--help", "-h": role = .help
      default: throw UsageError("“\(argument)” is no option")
      }
    }
    if case .server(let port, _) = role { role = .server(port: port, held: held) }
    switch role {
    case .session, .server:
      if directory == nil { throw UsageError("this needs --directory too") }
    case .story, .help: break
    }
  }

  private static func value(_ text: String?, of option: String) throws(UsageError) -> String {
    guard let text, !text.isEmpty else { throw UsageError("\(option) needs a value") }
    return text
  }

  private static func port(_ text: String?, of option: String) throws(UsageError) -> UInt16 {
    guard let port = UInt16(try value(text, of: option)) else {
      throw UsageError("\(option): a port is a number from 0 to 65535")
    }
    return port
  }

  /// What `--help` prints.
  static let help = """
    usage: library [--directory DIR]
           library --server PORT --directory DIR [--hold REQUEST]
           library --session PORT --directory DIR

    A library whose desk goes on working without its server. By itself it tells a story and checks
    every line of it: it starts a server and a session as processes of their own, takes the server
    away, kills the session in the middle of its work, and looks at what both have in the end.

      --directory DIR  where store and server keep their data; a temporary directory if not given
      --server PORT    only the server, on 127.0.0.1; it ends with its standard input
      --hold REQUEST   keeps the answer to a request back, for example to "POST /books", until its
                       standard input says: release
      --session PORT   only a session, which takes commands on its standard input:
                       fetch, author|NAME, book|TITLE|AUTHOR, lend|TITLE|READER, rename|OLD|NEW,
                       views, queue, drain, verify
    """
}
