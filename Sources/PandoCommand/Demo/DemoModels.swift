import Pando

/// Somebody who writes messages.
struct Person: Model, Codable, Equatable {
  let id: String
  var name: String
  /// An optional child: without the image the person stays.
  var portrait: Image?

  var modelIdentifier: String? { "Person:\(id)" }
}

/// A picture; the demo's smallest model.
struct Image: Model, Codable, Equatable {
  let id: String
  var caption: String
  var width: Int
  var height: Int

  var modelIdentifier: String? { "Image:\(id)" }
}

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

/// The people somebody knows.
struct ContactList: Model, Codable, Equatable {
  let id: String
  var people: [Person]

  var modelIdentifier: String? { "ContactList:\(id)" }
}

/// What the demo stores.
///
/// Identifiers begin with `demo-`, so that they meet nobody else's in a store that has other nodes
/// already.
enum DemoModels {
  static let oak = Image(id: "demo-oak", caption: "an oak", width: 800, height: 600)
  static let aspen = Image(id: "demo-aspen", caption: "Pando in autumn", width: 1600, height: 900)

  static let ada = Person(
    id: "demo-ada", name: "Ada Byron",
    portrait: Image(id: "demo-ada", caption: "Ada, painted", width: 320, height: 400))
  static let grace = Person(
    id: "demo-grace", name: "Grace Hopper",
    portrait: Image(id: "demo-grace", caption: "Grace at her desk", width: 320, height: 400))
  static let alan = Person(id: "demo-alan", name: "Alan Turing", portrait: nil)

  static let messages = [
    Message(id: "demo-1", text: "Have you seen this tree?", sender: ada, images: [aspen, oak]),
    Message(id: "demo-2", text: "47 000 stems and one root!", sender: grace, images: [aspen]),
    Message(id: "demo-3", text: "Let us go there.", sender: ada, images: []),
  ]

  /// A message that comes while others are shown.
  static let pushed = Message(id: "demo-4", text: "I bring the tea.", sender: alan, images: [])

  static let contacts = ContactList(id: "demo", people: [ada, grace, alan])

  /// The key of the collection that lists the messages.
  static let inboxKey = "demo-inbox"

  /// Messages of one sender, to see what one change costs among many trees.
  static func archive(count: Int) -> [Message] {
    (0..<count).map { number in
      Message(id: "demo-archive-\(number)", text: "Note \(number)", sender: grace, images: [])
    }
  }
}
