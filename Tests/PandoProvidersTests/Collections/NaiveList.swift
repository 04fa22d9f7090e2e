import PandoModels
import PandoProviders

/// A list as it should be shown and stored, every rule written down once more.
///
/// Calls are noted with what their caller sees, and carried out later, one after another, as a manager
/// does. No two elements have one identifier.
struct NaiveList {
  struct Element: Equatable {
    let number: Int
    var contact: Contact
  }

  /// A place between two elements.
  private struct Anchor {
    /// `nil` for the end, whatever comes.
    var index: Int?
    var before: Int?
    var after: Int?

    static let end = Anchor()

    init() {}

    init(_ index: Int, in numbers: [Int]) {
      self.index = index
      before = index > 0 ? numbers[index - 1] : nil
      after = index < numbers.count ? numbers[index] : nil
    }

    func resolve(in list: [Element]) -> Int {
      guard let index else { return list.count }
      if let after, let place = list.firstIndex(where: { $0.number == after }) { return place }
      if let before, let place = list.firstIndex(where: { $0.number == before }) {
        return place + 1
      }
      return min(index, list.count)
    }
  }

  private(set) var shown: [Element] = []
  private(set) var stored: [Element] = []
  /// The stored elements as the next caller expects them.
  private var expected: [Int] = []
  private var calls: [(inout NaiveList) -> Void] = []
  private var numbers: [Int: Int] = [:]
  private var lastNumber = 0
  private var used: Set<Int> = []

  /// An identifier that no element has or had since the last quiet point.
  mutating func freshID() -> Int? {
    let id = (0..<100).first { !used.contains($0) }
    if let id { used.insert(id) }
    return id
  }

  /// Carries the calls out.
  mutating func settle() {
    for call in calls { call(&self) }
    calls = []
    expected = stored.map(\.number)
    used = Set((shown + stored).map(\.contact.id))
  }

  private mutating func make(_ contact: Contact) -> Element {
    lastNumber += 1
    numbers[contact.id] = lastNumber
    return Element(number: lastNumber, contact: contact)
  }

  private func seen(_ contacts: [Contact]) -> [Int] { contacts.compactMap { numbers[$0.id] } }

  /// Takes what is stored for what the caller sees, as it is where all is written.
  mutating func expect(_ contacts: [Contact]) { expected = seen(contacts) }
}

/// Calls; the first argument is what the caller sees.
extension NaiveList {
  mutating func set(_ data: [Contact], _ contacts: [Contact], isWritten: Bool) {
    let seen = Set(data.map(\.id))
    let list = contacts.map { contact in
      if let number = numbers[contact.id], seen.contains(contact.id) {
        return Element(number: number, contact: contact)
      }
      return make(contact)
    }
    if isWritten { expected = list.map(\.number) }
    calls.append { state in
      state.shown = list
      if isWritten { state.stored = list }
      state.publish(contacts, isWritten: isWritten)
    }
  }

  mutating func insert(
    _ data: [Contact], _ contact: Contact, at index: Int?, isWritten: Bool
  ) {
    let seen = seen(data)
    let new = make(contact)
    let anchor = index.map { Anchor($0, in: seen) } ?? .end
    var storedAnchor = Anchor.end
    if let index { storedAnchor = Anchor(Self.place(index, seen, expected), in: expected) }
    if isWritten { expected.insert(new.number, at: storedAnchor.index ?? expected.count) }
    calls.append { state in
      state.shown.insert(new, at: anchor.resolve(in: state.shown))
      if isWritten { state.stored.insert(new, at: storedAnchor.resolve(in: state.stored)) }
      state.publish([contact], isWritten: isWritten)
    }
  }

  mutating func update(_ data: [Contact], _ contact: Contact, at index: Int, isWritten: Bool) {
    let number = seen(data)[index]
    let isStored = isWritten && expected.contains(number)
    numbers[contact.id] = number
    calls.append { state in
      guard state.has(number, isStored: isStored) else { return }
      state.replace(number, contact, isStored: isStored)
      state.publish([contact], isWritten: isWritten)
    }
  }

  mutating func remove(_ data: [Contact], at index: Int, isWritten: Bool) {
    let number = seen(data)[index]
    let isStored = isWritten && expected.contains(number)
    if isStored { expected.removeAll { $0 == number } }
    calls.append { state in
      guard state.has(number, isStored: isStored) else { return }
      state.shown.removeAll { $0.number == number }
      if isStored { state.stored.removeAll { $0.number == number } }
    }
  }

  mutating func move(_ data: [Contact], from: Int, to: Int, isWritten: Bool) {
    var rest = seen(data)
    let number = rest.remove(at: from)
    let isStored = isWritten && expected.contains(number)
    let anchor = Anchor(to, in: rest)
    var storedAnchor = Anchor.end
    if isStored {
      expected.removeAll { $0 == number }
      storedAnchor = Anchor(Self.place(to, rest, expected), in: expected)
      expected.insert(number, at: storedAnchor.index ?? 0)
    }
    calls.append { state in
      guard state.has(number, isStored: isStored) else { return }
      Self.move(number, to: anchor, in: &state.shown)
      if isStored { Self.move(number, to: storedAnchor, in: &state.stored) }
    }
  }

  mutating func delete(_ id: Int, isWritten: Bool) {
    calls.append { state in
      state.shown.removeAll { $0.contact.id == id }
      if isWritten { state.stored.removeAll { $0.contact.id == id } }
    }
  }

  mutating func publish(_ contact: Contact, isWritten: Bool) {
    calls.append { $0.publish([contact], isWritten: isWritten) }
  }
}

extension NaiveList {
  /// Whether an element is where an edit has to find it.
  private func has(_ number: Int, isStored: Bool) -> Bool {
    isStored
      ? stored.contains { $0.number == number } : shown.contains { $0.number == number }
  }

  private mutating func replace(_ number: Int, _ contact: Contact, isStored: Bool) {
    if let place = shown.firstIndex(where: { $0.number == number }) {
      shown[place].contact = contact
    }
    guard isStored, let place = stored.firstIndex(where: { $0.number == number }) else { return }
    stored[place].contact = contact
  }

  /// Contents are the same wherever the node is.
  private mutating func publish(_ contacts: [Contact], isWritten: Bool) {
    for contact in contacts {
      for place in shown.indices where shown[place].contact.id == contact.id {
        shown[place].contact = contact
      }
      guard isWritten else { continue }
      for place in stored.indices where stored[place].contact.id == contact.id {
        stored[place].contact = contact
      }
    }
  }

  private static func move(_ number: Int, to anchor: Anchor, in list: inout [Element]) {
    guard let from = list.firstIndex(where: { $0.number == number }) else { return }
    let element = list.remove(at: from)
    list.insert(element, at: anchor.resolve(in: list))
  }

  /// In front of the next shown element that is stored, or behind the one that precedes.
  private static func place(_ place: Int, _ shown: [Int], _ stored: [Int]) -> Int {
    for number in shown[place...] {
      if let found = stored.firstIndex(of: number) { return found }
    }
    for number in shown[..<place].reversed() {
      if let found = stored.firstIndex(of: number) { return found + 1 }
    }
    return min(place, stored.count)
  }
}
