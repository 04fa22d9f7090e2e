import Pando

/// Something that a person wrote and others have read.
@Model struct Message {
  @Key let id: Int
  var title: String
  /// A required child: without its author there is no message.
  var author: Person
  /// A list of children: who is deleted is taken out.
  var readers: [Person]
}

extension Message: CustomStringConvertible {
  var description: String {
    let readBy = readers.map(\.description).joined(separator: ", ")
    return "“\(title)” from \(author), read by \(readBy.isEmpty ? "nobody" : readBy)"
  }
}

/// A person who writes messages and stands in the list of contacts.
@Model struct Person {
  @Key let id: Int
  var name: String
  var isOnline: Bool
}

extension Person: CustomStringConvertible {
  var description: String { name + (isOnline ? " (online)" : " (offline)") }
}
