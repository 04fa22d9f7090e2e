import Pando

struct Person: Model, Codable, Equatable {
  var id: Int, name: String, isOnline: Bool
  var modelIdentifier: String? { "Person:\(id)" }
}

struct Message: Model, Codable, Equatable {
  var id: Int, text: String, author: Person
  var modelIdentifier: String? { "Message:\(id)" }
}

func changeOnePerson(in store: ModelStore) throws -> Message? {
  let ada = Person(id: 12, name: "Ada", isOnline: false)
  try store.write { try $0.set(Message(id: 34, text: "Hello", author: ada)) }
  try store.write { try $0.set(Person(id: 12, name: "Ada", isOnline: true)) }
  return try store.read { try $0.get("Message:34", as: Message.self) }  // its author is online
}
