import ExampleServer

/// The far side of the network: the server that the service fetches its data from.
///
/// It knows one message and a list of contacts. The two do not agree about Ada, who came online after
/// the message was written; that is what the story is about.
final class Backend: Sendable {
  /// Holds its answers back.
  let gate = Gate()
  private let server: HTTPServer

  /// The port it listens on.
  var port: UInt16 { server.port }

  /// Begins to answer.
  ///
  /// - Parameter isAway: Whether it answers that it can't answer.
  /// - Throws: ``SocketError`` when there is no port left.
  init(isAway: Bool = false) throws(SocketError) {
    server = try HTTPServer(port: 0) { [gate] request in
      let path = "/" + request.path.joined(separator: "/")
      await gate.pass(path)
      return isAway ? HTTPResponse(error: "away", status: 503) : Self.response(to: path)
    }
  }

  /// Lets what is held go, and ends.
  func stop() async {
    await gate.releaseAll()
    await server.stop()
  }

  private static func response(to path: String) -> HTTPResponse {
    switch path {
    case "/messages/\(message.id)": HTTPResponse(message)
    case "/contacts": HTTPResponse(contacts)
    default: HTTPResponse(error: "the network has nothing at \(path)", status: 404)
    }
  }
}

extension Backend {
  static let ada = Person(id: 12, name: "Ada", isOnline: false)
  static let grace = Person(id: 13, name: "Grace", isOnline: true)
  static let alan = Person(id: 14, name: "Alan", isOnline: false)
  static let linus = Person(id: 15, name: "Linus", isOnline: false)

  /// The message, as it was written: Ada is offline.
  static let message = Message(id: 34, title: "Lunch?", author: ada, readers: [grace, linus])

  /// The message before Ada changed it.
  static let outdatedMessage = Message(id: 34, title: "Breakfast?", author: ada, readers: [])

  /// The contacts, as they are: Ada is online.
  static let contacts = [Person(id: ada.id, name: ada.name, isOnline: true), grace, alan]
}
