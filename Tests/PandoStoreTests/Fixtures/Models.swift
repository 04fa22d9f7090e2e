import Foundation
import PandoModels
import PandoRecords

struct Image: Model, Codable, Equatable {
  var id: Int
  var url: String
  var modelIdentifier: String? { "Image:\(id)" }
}

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

struct Message: Model, Codable, Equatable {
  var id: Int
  var text: String
  var author: Person
  var image: Image?
  var readers: [Person] = []
  var modelIdentifier: String? { "Message:\(id)" }
}

struct Note: SimpleModel, Codable, Equatable {
  var text: String
  var modelIdentifier: String? { nil }
}
