import PandoFixtures
import PandoLMDB
import PandoModels
import Testing

@testable import PandoStore

/// Fields that hold integers beyond 64 bits, in the two forms in which records have them.
@Suite(.overBothBackings) struct WideIntegerTests {
  private static let big: UInt128 = 123_456_789_012_345_678_901_234_567_890

  private static func city(_ number: Int, _ value: TreeValue) -> TreeNode {
    TreeNode("City:\(number)", type: "City", fields: ["n": value, "m": .integer(Int64(number))])
  }

  /// The record of `UInt128`, and that of a JSON number.
  private static func bignum(_ magnitude: UInt128) -> TreeValue {
    .tagged(2, .bytes((0..<16).reversed().map { UInt8(truncatingIfNeeded: magnitude >> ($0 * 8)) }))
  }

  private static func makeStore(indexes: [[String]]) throws -> ModelStore {
    let store = try ModelStore.forTest()
    try store.write { transaction in
      for fields in indexes { try transaction.addIndex(on: fields, ofType: "City") }
      try transaction.set(city(1, try TreeValue(json: "123456789012345678901234567890")))
      try transaction.set(city(2, try TreeValue(json: "123456789012345678901234567891")))
      try transaction.set(city(3, try TreeValue(json: "-9223372036854775809")))
      try transaction.set(city(4, .unsigned(.max)))
      try transaction.set(city(5, bignum(1 << 127 + 1)))
      try transaction.set(city(6, .double(1e30)))
      try transaction.set(city(7, .tagged(4, .array([-1, .integer(5)]))))
      try transaction.set(city(8, .tagged(3, .bytes([UInt8](repeating: 255, count: 16)))))
      try transaction.set(city(9, .tagged(2, .bytes([UInt8](repeating: 1, count: 17)))))
    }
    return store
  }

  private static func found(
    _ store: ModelStore, _ filter: FilterTree<RecordField>, ordered: Bool = false
  ) throws -> [Int] {
    var query = RecordQuery(typeName: "City")
    query.filter = filter
    if ordered { query.order = [.field(.named(FieldPath("n")), isDescending: true)] }
    let names = try store.read { try $0.identifiers(matching: query) }
    let numbers = names.compactMap { Int($0.dropFirst(5)) }
    return ordered ? numbers : numbers.sorted()
  }

  @Test(arguments: [[], [["n"]], [["n", "m"]], [["m"], ["n"]]])
  func `integers beyond 64 bits are found and ordered by their exact values`(
    indexes: [[String]]
  ) throws {
    let store = try Self.makeStore(indexes: indexes)
    let field = RecordField.named(FieldPath("n"))
    func compare(_ relation: FilterComparison, _ value: QueryValue) throws -> [Int] {
      try Self.found(store, .compare(field, relation, value))
    }
    #expect(try compare(.equal, QueryValue(Self.big)) == [1])
    #expect(try compare(.greater, QueryValue(Self.big)) == [2, 5, 6])
    #expect(try compare(.lessOrEqual, QueryValue(Self.big)) == [1, 3, 4, 7])
    #expect(try compare(.less, .integer(.min)) == [3])
    #expect(try compare(.equal, .double(Double(Self.big))) == [])
    #expect(try compare(.greater, .double(0x1p127)) == [5])
    #expect(try compare(.greaterOrEqual, .unsigned(.max)) == [1, 2, 4, 5, 6])
    #expect(
      try Self.found(store, .isIn(field, QueryValueSet([QueryValue(Self.big + 1), .null]))) == [2])
    // What has no position comes last.
    let order = try Self.found(store, .all, ordered: true)
    #expect(order.dropFirst(2) == [5, 6, 2, 1, 4, 7, 3])
    #expect(Set(order.prefix(2)) == [8, 9])
    let answer = try store.read { snapshot in
      try snapshot.answer(RecordQuestion.count, to: RecordQuery(typeName: "City")).count
    }
    #expect(answer == 9)
    #expect(try store.verify().problems == [])
  }

  @Test func `a unique index tells integers beyond 64 bits apart`() throws {
    let store = try ModelStore.forTest()
    try store.write { try $0.addIndex(on: ["n"], ofType: "City", unique: true) }
    try store.write { try $0.set(Self.city(1, Self.bignum(Self.big))) }
    try store.write { try $0.set(Self.city(2, Self.bignum(Self.big + 1))) }
    expectFailure(.valueTaken, "n of a City is unique, and \(Self.big) is that of City:1") {
      try store.write {
        try $0.set(Self.city(3, try TreeValue(json: "\(Self.big)")))
      }
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `rows that earlier versions made of such integers go with the records`() throws {
    let store = try Self.makeStore(indexes: [["n"]])
    try store.editRows { transaction, tables in
      let index = StoredIndex.bytes(1)
      var former = index + [QueryValue.Kind.composite.rawValue]
      former.append(bigEndian: 1, width: StoredIndex.nodeByteCount)
      var present = index + IndexValue(QueryValue(Self.big)).bytes
      present.append(bigEndian: 1, width: StoredIndex.nodeByteCount)
      try transaction.remove(present, in: tables.indexRows)
      try transaction.put([], former, in: tables.indexRows)
    }
    #expect(try store.verify().problems.isEmpty == false)
    try store.write { try $0.set(Self.city(1, 5)) }
    #expect(try store.verify().problems == [])
    #expect(try Self.found(store, .compare(.named(FieldPath("n")), .equal, .integer(5))) == [1])
  }

  @Test func `a sum of integers beyond 64 bits is exact, and has no value beyond 128 bits`() throws
  {
    var sum = NumberSum()
    sum.add(QueryValue(Self.big))
    sum.add(QueryValue(-Int128(Self.big) + 7))
    #expect(sum.value == .integer(7))
    sum.add(QueryValue(Int128(Self.big)))
    #expect(sum.value == QueryValue(Self.big + 7))
    sum.add(QueryValue(UInt128.max))
    #expect(sum.value == nil)
  }
}
