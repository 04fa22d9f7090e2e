import PandoModels
import PandoRecords

/// An element of the lists in these tests.
struct Contact: Model, Codable, Equatable {
  var id: Int
  var name: String
  var modelIdentifier: String? { "Contact:\(id)" }

  init(_ id: Int, _ name: String = "") {
    self.id = id
    self.name = name
  }

  /// Contacts of these numbers, without names.
  static func list(_ ids: Int...) -> [Contact] { ids.map { Contact($0) } }
}

/// Holds contacts in all ways.
struct Team: Model, Codable, Equatable {
  var id: Int
  var lead: Contact
  var helper: Contact?
  var members: [Contact] = []
  var modelIdentifier: String? { "Team:\(id)" }
}

/// Has no identifier.
struct Jotting: SimpleModel, Codable, Equatable {
  var text: String
  var modelIdentifier: String? { nil }
}

/// Another type with the identifiers of contacts.
struct ContactCard: Model, Codable, Equatable {
  var id: Int
  var name: String
  var phone: String
  var modelIdentifier: String? { "Contact:\(id)" }
}
