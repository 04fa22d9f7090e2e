import Pando

/// The people somebody knows.
struct ContactList: Model, Codable, Equatable {
  let id: String
  var people: [Person]

  var modelIdentifier: String? { "ContactList:\(id)" }
}
