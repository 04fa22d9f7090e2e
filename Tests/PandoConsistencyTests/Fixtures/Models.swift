import PandoModels
import PandoRecords

/// A leaf.
struct Person: Model, Codable, Equatable {
  var id: Int
  var name: String
  var city = "Bern"
  var modelIdentifier: String? { "person:\(id)" }
}

/// A leaf that shows the same node as `Person` with other fields.
struct Profile: Model, Codable, Equatable {
  var id: Int
  var name: String
  var age: Int
  var modelIdentifier: String? { "person:\(id)" }
}

/// A tree with one child of each kind of edge.
struct Team: KeyPathModel, Codable, Equatable {
  var id: Int
  var title = "team"
  var lead: Person
  var deputy: Person?
  var members: [Person] = []
  var roles: [String: Person] = [:]
  var modelIdentifier: String? { "team:\(id)" }
  static let children = Children(\Team.lead, \.deputy, \.members, \.roles)
}

/// A tree of trees, with a part that has no identifier.
struct Company: KeyPathModel, Codable, Equatable {
  struct Board: KeyPathModel, Codable, Equatable {
    var chair: Person?
    var teams: [Team] = []
    var modelIdentifier: String? { nil }
    static let children = Children(\Board.chair, \.teams)
  }

  var id: Int
  var board = Board()
  var teams: [Team] = []
  var modelIdentifier: String? { "company:\(id)" }
  static let children = Children(\Company.board, \.teams)
}
