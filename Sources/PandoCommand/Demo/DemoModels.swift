import Pando

/// A person who writes messages.
struct Person: Model, Codable, Equatable {
  let id: String
  var name: String
  /// An optional child: the person remains without the image.
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

/// A message of a person.
struct Message: Model, Codable, Equatable {
  let id: String
  var text: String
  /// A required child: deleting the sender deletes the message.
  var sender: Person
  /// A list of children: it loses deleted ones.
  var images: [Image]

  var modelIdentifier: String? { "Message:\(id)" }
}

/// The contacts of a person.
struct ContactList: Model, Codable, Equatable {
  let id: String
  var people: [Person]

  var modelIdentifier: String? { "ContactList:\(id)" }
}

/// The models that the demo stores.
///
/// Their identifiers begin with `demo-`, so that they differ from other nodes of the store.
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

  /// A message that arrives while others are shown.
  static let pushed = Message(id: "demo-4", text: "I bring the tea.", sender: alan, images: [])

  static let contacts = ContactList(id: "demo", people: [ada, grace, alan])

  /// The key of the collection that lists the messages.
  static let inboxKey = "demo-inbox"

  /// Makes messages of one sender, to show the cost of one change among many trees.
  static func archive(count: Int) -> [Message] {
    (0..<count).map { number in
      Message(id: "demo-archive-\(number)", text: "Note \(number)", sender: grace, images: [])
    }
  }
}
