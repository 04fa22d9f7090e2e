import Pando

/// Something that a person wrote and others have read.
struct Message: Model, Codable, Equatable {
  let id: Int
  var title: String
  /// A required child: without its author there is no message.
  var author: Person
  /// A list of children: who is deleted is taken out.
  var readers: [Person]

  var modelIdentifier: String? { Self.modelIdentifier(id) }

  /// What a message is named, known before the message is.
  static func modelIdentifier(_ id: Int) -> String { "Message:\(id)" }
}

extension Message: CustomStringConvertible {
  var description: String {
    let readBy = readers.map(\.description).joined(separator: ", ")
    return "“\(title)” from \(author), read by \(readBy.isEmpty ? "nobody" : readBy)"
  }
}

/// Somebody who writes messages and stands in the list of contacts.
struct Person: Model, Codable, Equatable {
  let id: Int
  var name: String
  var isOnline: Bool

  var modelIdentifier: String? { "Person:\(id)" }
}

extension Person: CustomStringConvertible {
  var description: String { name + (isOnline ? " (online)" : " (offline)") }
}
