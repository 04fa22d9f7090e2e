import CPandoAllocations
import PandoFixtures
import PandoModels
import PandoRecords
import Testing

@testable import PandoStore

/// Reading a model that reads its fields itself allocates what the model needs, and nothing else.
@Suite struct FieldAllocationTests {
  struct Person: Model, FieldCodable, Equatable {
    let id: String
    let name: String
    let about: String
    let age: Int
    let score: Double
    let isVerified: Bool
    let nickname: String?
    let friend: Friend?
    var modelIdentifier: String? { id }
  }

  struct Friend: Model, FieldCodable, Equatable {
    let id: String
    let age: Int
    var modelIdentifier: String? { id }
  }

  /// How many allocations `body` makes on this thread.
  private func count(_ body: () throws -> Void) rethrows -> Int {
    let before = allocations_on_this_thread()
    try body()
    return Int(allocations_on_this_thread() - before)
  }

  #if DEBUG
    private static let isOptimized = false
  #else
    private static let isOptimized = true
  #endif

  @Test(
    .enabled(
      if: allocations_are_counted() == 1 && isOptimized,
      "allocations are counted in release builds without a sanitizer"))
  func `a tree costs one allocation for each long text`() throws {
    let store = try ModelStore.temporary(configuration: .forTests)
    let longText = String(repeating: "long ", count: 20)
    let long = Person(
      id: "person:0123456789abcdef", name: longText, about: longText, age: 3, score: 0.1,
      isVerified: true, nickname: nil, friend: Friend(id: "friend:0123456789abcdef", age: 7))
    let short = Person(
      id: "p:1", name: "Ada", about: "", age: 3, score: 0.1, isVerified: true, nickname: "A",
      friend: Friend(id: "f:1", age: 7))
    try store.write { transaction in
      try transaction.set(long)
      try transaction.set(short)
    }
    for (person, textCount) in [(long, 4), (short, 0)] {
      var read: Person?
      for _ in 0..<3 { read = try store.read { try $0.get(person.id) } }
      read = nil
      let allocationCount = try count { read = try store.read { try $0.get(person.id) } }
      #expect(allocationCount == textCount)
      #expect(read == person)
    }
  }
}

extension FieldAllocationTests.Person {
  init(fields: inout FieldSource) throws {
    id = try fields.read("id")
    name = try fields.read("name")
    about = try fields.read("about")
    age = try fields.read("age")
    score = try fields.read("score")
    isVerified = try fields.read("isVerified")
    nickname = try fields.read("nickname")
    friend = try fields.read("friend")
  }

  func write(to fields: inout FieldSink) throws {
    fields.write("id", id)
    fields.write("name", name)
    fields.write("about", about)
    fields.write("age", age)
    fields.write("score", score)
    fields.write("isVerified", isVerified)
    fields.write("nickname", nickname)
    try fields.write("friend", friend)
  }
}

extension FieldAllocationTests.Friend {
  init(fields: inout FieldSource) throws {
    id = try fields.read("id")
    age = try fields.read("age")
  }

  func write(to fields: inout FieldSink) throws {
    fields.write("id", id)
    fields.write("age", age)
  }
}
