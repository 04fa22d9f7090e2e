import Pando

/// Somebody who writes messages and stands in the list of contacts.
struct Person: Model, Codable, Equatable {
  let id: Int
  var name: String
  var isOnline: Bool

  var modelIdentifier: String? { "Person:\(id)" }
}

extension Person: CustomStringConvertible {
  var description: String { name + (isOnline ? " (online)" : " (offline)") }
}
