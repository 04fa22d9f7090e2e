import Pando

@Model struct Person {
  @Key var id: Int
  var name: String
  var isOnline = false
}

@Model struct Message {
  @Key var id: Int
  var text: String
  var author: Person
}

func changeOnePerson(in store: ModelStore) throws -> Message? {
  let ada = Person(id: 12, name: "Ada")
  try store.write { try $0.insert(Message(id: 34, text: "Hello", author: ada)) }
  try store.update(Person.key(12)) { $0.isOnline = true }
  return try store.get(Message.key(34))  // its author is online
}
