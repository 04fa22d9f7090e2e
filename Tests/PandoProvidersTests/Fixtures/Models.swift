import Foundation
import PandoModels
import PandoRecords

struct Person: Model, Codable, Equatable {
  var id: Int
  var name: String
  var isOnline = false
  var modelIdentifier: String? { "Person:\(id)" }
}

/// A projection of ``Person``.
struct FullProfile: Model, Codable, Equatable {
  var id: Int
  var name: String
  var age: Int
  var modelIdentifier: String? { "Person:\(id)" }
}

/// The children are named by hand, as is quickest.
struct Message: Model, Codable, Equatable {
  var id: Int
  var text: String
  var author: Person
  var reader: Person?
  var modelIdentifier: String? { "Message:\(id)" }

  func map(_ transform: (any Model) -> (any Model)?) -> Message? {
    guard let author = transform(author) as? Person else { return nil }
    let reader = reader.flatMap { transform($0) as? Person }
    return Message(id: id, text: text, author: author, reader: reader)
  }

  func forEach(_ visit: (any Model) -> Void) {
    visit(author)
    if let reader { visit(reader) }
  }
}

/// A model that can't be stored.
struct Sketch: SimpleModel, Equatable {
  var id: Int
  var modelIdentifier: String? { "Sketch:\(id)" }
}
