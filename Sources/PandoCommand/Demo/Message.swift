import Pando

/// Something that a person wrote.
struct Message: Model, Codable, Equatable {
  let id: String
  var text: String
  /// A required child: no message without its sender.
  var sender: Person
  /// A list of children: it loses what is deleted.
  var images: [Image]

  var modelIdentifier: String? { "Message:\(id)" }
}
