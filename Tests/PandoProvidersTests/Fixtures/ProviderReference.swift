import PandoModels

/// The expected contents of providers and store: three dictionaries, and every rule written once more.
struct ProviderReference {
  private struct Record {
    var text: String
    var author: Int
    var reader: Int?
  }

  private var people: [Int: Person] = [:]
  private var profiles: [Int: FullProfile] = [:]
  private var messages: [Int: Record] = [:]

  func person(_ id: Int) -> Person? { people[id] }

  func profile(_ id: Int) -> FullProfile? { profiles[id] }

  func message(_ id: Int) -> Message? {
    guard let record = messages[id], let author = people[record.author] else { return nil }
    return Message(
      id: id, text: record.text, author: author, reader: record.reader.flatMap { people[$0] })
  }

  mutating func carryOut(_ change: ProviderRun.Change) {
    switch change {
    case .set(let models): for model in models { set(model) }
    case .delete(let identifier): delete(identifier)
    }
  }

  private mutating func set(_ model: any SimpleModel) {
    switch model {
    case let person as Person:
      people[person.id] = person
      profiles[person.id]?.name = person.name
    case let profile as FullProfile:
      profiles[profile.id] = profile
      people[profile.id]?.name = profile.name
    case let message as Message:
      set(message.author)
      if let reader = message.reader { set(reader) }
      messages[message.id] = Record(
        text: message.text, author: message.author.id, reader: message.reader?.id)
    default: preconditionFailure("\(model)")
    }
  }

  private mutating func delete(_ identifier: String) {
    guard let id = identifier.split(separator: ":").last.flatMap({ Int($0) }) else { return }
    guard identifier.hasPrefix("Person") else {
      messages[id] = nil
      return
    }
    people[id] = nil
    profiles[id] = nil
    for (message, record) in messages {
      if record.author == id { messages[message] = nil }
      if record.reader == id { messages[message]?.reader = nil }
    }
  }
}
