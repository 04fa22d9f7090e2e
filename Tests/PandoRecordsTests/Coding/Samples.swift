import Foundation
import PandoModels

@testable import PandoRecords

struct Image: Model, Codable, Hashable {
  var modelIdentifier: String?
  var url: String
}

struct Person: Model, Codable, Hashable {
  var id: Int
  var name: String
  var image: Image?
  var modelIdentifier: String? { "person:\(id)" }
}

struct Place: Codable, Hashable, Sendable {
  var name: String
  var owner: Person
}

struct Message: Model, Codable, Hashable {
  enum Attachment: Codable, Hashable, Sendable {
    case nothing
    case person(Person)
    case two(first: Person, second: Person?)
  }

  var id: String
  var text: String
  var author: Person
  var editor: Person?
  var readers: [Person]
  var roles: [String: Person]
  var place: Place?
  var places: [Place]
  var attachment: Attachment
  var maybe: [Person?]
  var nestedReaders: [[Person]]
  var modelIdentifier: String? { "message:\(id)" }

  static func sample(_ id: String = "1") -> Message {
    func person(_ id: Int) -> Person {
      Person(id: id, name: "person number \(id) of all", image: nil)
    }
    return Message(
      id: id, text: "hello", author: person(1), editor: person(2),
      readers: [person(3), person(1)], roles: ["b": person(4), "a": person(5)],
      place: Place(name: "here", owner: person(6)),
      places: [Place(name: "there", owner: person(7))],
      attachment: .two(first: person(8), second: person(9)),
      maybe: [nil, person(10)], nestedReaders: [[person(11)], []])
  }
}
