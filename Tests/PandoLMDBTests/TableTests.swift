import PandoFixtures
import PandoLMDB
import Testing

@Suite struct TableTests {
  struct Person: Codable, Equatable, Sendable {
    var name: String
    var height: Double
  }

  @Test func `a typed table returns the stored values`() throws {
    try withEnvironment { environment in
      let ages = try environment.table("ages", keys: .string, values: .int64)
      try environment.write { transaction in
        try transaction.put(36, forKey: "Ada", in: ages)
        try transaction.put(-1, forKey: "Bob", in: ages)
      }
      try environment.read { snapshot throws in
        #expect(try snapshot.value(forKey: "Ada", in: ages) == 36)
        #expect(try snapshot.value(forKey: "Bob", in: ages) == -1)
        #expect(try snapshot.value(forKey: "Eve", in: ages) == nil)
        #expect(try snapshot.count(of: ages) == 2)
        #expect(try snapshot.contains(key: "Bob", in: ages))
      }
    }
  }

  @Test func `a stored Codable value is read back equal`() throws {
    try withEnvironment { environment in
      let people = try environment.table("people", keys: .uint64, values: .codable(Person.self))
      let ada = Person(name: "Ada \u{1F600}/\"", height: .infinity)
      try environment.write { try $0.put(ada, forKey: 7, in: people) }
      #expect(try environment.read { try $0.value(forKey: 7, in: people) } == ada)
    }
  }

  @Test func `the value of an entry is not decoded before it is read`() throws {
    try withEnvironment { environment in
      let raw = try environment.rawTable("people")
      let people = Table(raw, keys: .string, values: .codable(Person.self))
      try environment.write { try $0.put([1, 2].span, forKey: [65].span, in: raw) }
      try environment.read { snapshot in
        try snapshot.scan(people) { entry in
          #expect(entry.valueBytes.count == 2)
          do {
            _ = try entry.value
            Issue.record("two bytes are no person")
          } catch let error as LMDBError {
            #expect(error.code == .undecodable)
          }
          return true
        }
      }
    }
  }

  @Test func `insert keeps the value that is there`() throws {
    try withEnvironment { environment in
      let table = try environment.table(nil, keys: .uint8, values: .string)
      let inserted = try environment.write { transaction in
        [
          try transaction.insert("first", forKey: 1, in: table),
          try transaction.insert("second", forKey: 1, in: table),
        ]
      }
      #expect(inserted == [true, false])
      #expect(try environment.read { try $0.value(forKey: 1, in: table) } == "first")
    }
  }

  @Test func `append refuses a key that is not the last and the transaction goes on`() throws {
    try withEnvironment { environment in
      let table = try environment.table(nil, keys: .uint32, values: .uint32)
      try environment.write { transaction in
        for number in UInt32(0)..<1000 { try transaction.append(number, forKey: number, in: table) }
        expectError(.keyExists) { try transaction.append(0, forKey: 5, in: table) }
        try transaction.append(1, forKey: 1000, in: table)
      }
      #expect(try environment.read { try $0.count(of: table) } == 1001)
    }
  }

  @Test func `one transaction changes several tables or none`() throws {
    struct Stop: Error {}
    try withEnvironment { environment in
      let names = try environment.table("names", keys: .uint64, values: .string)
      let numbers = try environment.table("numbers", keys: .string, values: .uint64)
      try environment.write { transaction in
        try transaction.put("one", forKey: 1, in: names)
        try transaction.put(1, forKey: "one", in: numbers)
      }
      #expect(throws: Stop.self) {
        try environment.write { transaction in
          try transaction.removeAll(in: names)
          try transaction.delete(key: "one", in: numbers)
          throw Stop()
        }
      }
      try environment.read { snapshot throws in
        #expect(try snapshot.value(forKey: 1, in: names) == "one")
        #expect(try snapshot.value(forKey: "one", in: numbers) == 1)
      }
    }
  }
}
