import Foundation
import PandoFixtures
import PandoModels
import Testing

@testable import PandoRecords

/// The three ways to name children, side by side on models of the same fields.
@Suite struct ChildrenTests {
  struct Leaf: Model, Codable, Hashable {
    var modelIdentifier: String?
    var value: Int
  }

  struct Plain: Model, Codable, Hashable {
    var modelIdentifier: String?
    var one: Leaf
    var maybe: Leaf?
    var list: [Leaf]
    var map: [String: Leaf]
    var maybeList: [Leaf]?
    var gaps: [Leaf?]
  }

  struct Named: KeyPathModel, Codable, Hashable {
    var modelIdentifier: String?
    var one: Leaf
    var maybe: Leaf?
    var list: [Leaf]
    var map: [String: Leaf]
    var maybeList: [Leaf]?
    var gaps: [Leaf?]
    // In the order of the coding.
    static let children = Children(
      \Named.one, \.maybe, \.list, \.map, \.maybeList, \.gaps)
  }

  struct ByHand: Model, Hashable {
    var modelIdentifier: String?
    var one: Leaf
    var maybe: Leaf?
    var list: [Leaf]
    var map: [String: Leaf]
    var maybeList: [Leaf]?
    var gaps: [Leaf?]

    func map(_ transform: (any Model) -> (any Model)?) -> ByHand? {
      var copy = self
      guard let one = transform(one) as? Leaf else { return nil }
      copy.one = one
      copy.maybe = maybe.flatMap { transform($0) as? Leaf }
      copy.list = list.compactMap { transform($0) as? Leaf }
      copy.map = [:]
      for key in map.keys.sorted() { copy.map[key] = map[key].flatMap { transform($0) as? Leaf } }
      copy.maybeList = maybeList.map { $0.compactMap { transform($0) as? Leaf } }
      copy.gaps = gaps.compactMap { leaf in
        guard let leaf else { return .some(.none) }
        return (transform(leaf) as? Leaf).map { .some($0) }
      }
      return copy
    }

    func forEach(_ visit: (any Model) -> Void) {
      visit(one)
      if let maybe { visit(maybe) }
      list.forEach(visit)
      for key in map.keys.sorted() { map[key].map(visit) }
      maybeList?.forEach(visit)
      for case let leaf? in gaps { visit(leaf) }
    }
  }

  private static func plain(_ random: inout SeededGenerator) -> Plain {
    func leaf() -> Leaf {
      let identifier =
        Bool.random(using: &random) ? "leaf:\(Int.random(in: 0..<9, using: &random))" : nil
      return Leaf(modelIdentifier: identifier, value: .random(in: 0..<4, using: &random))
    }
    func leaves() -> [Leaf] { (0..<Int.random(in: 0..<4, using: &random)).map { _ in leaf() } }
    let map = Dictionary(
      uniqueKeysWithValues: leaves().enumerated().map { ("k\($0.offset)", $0.element) })
    return Plain(
      modelIdentifier: "plain", one: leaf(), maybe: Bool.random(using: &random) ? leaf() : nil,
      list: leaves(), map: map, maybeList: Bool.random(using: &random) ? leaves() : nil,
      gaps: leaves().map { Bool.random(using: &random) ? $0 : nil })
  }

  @Test(arguments: seeds(100))
  func `all three ways find and replace the same children`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let plain = Self.plain(&random)
    let named = Named(
      modelIdentifier: plain.modelIdentifier, one: plain.one, maybe: plain.maybe, list: plain.list,
      map: plain.map, maybeList: plain.maybeList, gaps: plain.gaps)
    let byHand = ByHand(
      modelIdentifier: plain.modelIdentifier, one: plain.one, maybe: plain.maybe, list: plain.list,
      map: plain.map, maybeList: plain.maybeList, gaps: plain.gaps)
    let visited = [plain, named, byHand].map { (model: any Model) -> [Leaf] in
      var leaves: [Leaf] = []
      model.forEach { if let leaf = $0 as? Leaf { leaves.append(leaf) } }
      return leaves
    }
    #expect(visited[0] == visited[1] && visited[1] == visited[2])

    let lost = Int.random(in: 0..<6, using: &random)
    func change(_ child: any Model) -> (any Model)? {
      guard var leaf = child as? Leaf, leaf.value != lost else { return nil }
      leaf.value += 100
      return leaf
    }
    let mapped = plain.map(change)
    let other = named.map(change)
    let third = byHand.map(change)
    #expect((mapped == nil) == (plain.one.value == lost))
    #expect(mapped?.one == other?.one && other?.one == third?.one)
    #expect(mapped?.maybe == other?.maybe && other?.maybe == third?.maybe)
    #expect(mapped?.list == other?.list && other?.list == third?.list)
    #expect(mapped?.map == other?.map && other?.map == third?.map)
    #expect(mapped?.maybeList == other?.maybeList && other?.maybeList == third?.maybeList)
    #expect(mapped?.gaps == other?.gaps && other?.gaps == third?.gaps)
  }

  @Test(arguments: seeds(50))
  func `a model keeps itself when nothing is replaced, and its records say the same`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let plain = Self.plain(&random)
    #expect(plain.map { $0 } == plain)
    // Leaves of one identifier have to be equal for a tree to come back as it was.
    let tidy = try #require(
      plain.map { child in
        guard let leaf = child as? Leaf, let identifier = leaf.modelIdentifier else { return child }
        return Leaf(modelIdentifier: identifier, value: identifier.count)
      })
    #expect(try MemoryRecords.roundTrip(tidy) == tidy)
    let records = MemoryRecords()
    let root = try RecordEncoder(sink: records).encode(tidy)
    var identifiers: Set<String> = []
    ModelChildren.forEachNode(of: tidy) { identifiers.insert($0) }
    let edges = try #require(records.records[root]).edges
    #expect(Set(edges.compactMap { records.identifier(of: $0.child) }) == identifiers)
  }

  @Test func `children inside plain values are found, and lost with what can't be without them`()
    throws
  {
    let message = Message.sample()
    var names: [String] = []
    message.forEach { names.append($0.modelIdentifier ?? "") }
    #expect(names.count == 12)
    func without(_ id: Int) -> Message? {
      message.map { ($0 as? Person)?.id == id ? nil : $0 }
    }
    #expect(without(1) == nil)
    #expect(without(2)?.editor == .some(nil))
    #expect(without(3)?.readers.map(\.id) == [1])
    #expect(without(4)?.roles.keys.sorted() == ["a"])
    #expect(without(6)?.place == .some(nil))
    #expect(without(7)?.places.isEmpty == true)
    #expect(without(8) == nil)
    #expect(without(10)?.maybe == [nil])
    #expect(without(11)?.nestedReaders == [[], []])
    guard case .two(let first, nil)? = without(9)?.attachment else {
      Issue.record("the optional payload should have become nil")
      return
    }
    #expect(first.id == 8)
  }

  @Test func `a child of another type replaces nothing`() {
    let message = Message.sample()
    #expect(message.map { _ in Leaf(modelIdentifier: "leaf", value: 1) } == message)
  }

  struct NotEquatable: Model, Codable {
    var modelIdentifier: String?
    var words: Set<String>
  }

  @Test func `models that are not Equatable are compared by their coding`() {
    let words = (0..<20).map { "\($0)" }
    let one = NotEquatable(modelIdentifier: "a", words: Set(words))
    let same = NotEquatable(modelIdentifier: "a", words: Set(words.reversed()))
    #expect(one.isEqual(to: same))
    #expect(!one.isEqual(to: NotEquatable(modelIdentifier: "a", words: [])))
    #expect(!one.isEqual(to: Leaf(modelIdentifier: "a", value: 1)))
  }
}
